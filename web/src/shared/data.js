// SPDX-License-Identifier: MIT
// The data that thrum put into the page: one JSON object, with arrays of numbers as base64 of little-endian values.

export function pageData() {
  return JSON.parse(document.getElementById('thrum-data').textContent);
}

function bytes(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

export function float32(text) {
  return new Float32Array(bytes(text).buffer);
}

export function uint32(text) {
  return new Uint32Array(bytes(text).buffer);
}
