// SPDX-License-Identifier: MIT
// The data that thrum put into the page: one JSON object, with arrays of numbers as base64 of little-endian
// values.

export function pageData() {
  return JSON.parse(document.getElementById('thrum-data').textContent);
}

const DIGITS = new Uint8Array(128);
'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.split('').forEach((c, i) => { DIGITS[c.charCodeAt(0)] = i; });

// Four digits are three bytes. Uses the browser's own decoder where it has one, which is faster.
export function bytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const out = new Uint8Array(text.length / 4 * 3 - padding);
  for (let i = 0, o = 0; i < text.length; i += 4, o += 3) {
    const bits = (DIGITS[text.charCodeAt(i)] << 18) | (DIGITS[text.charCodeAt(i + 1)] << 12)
      | (DIGITS[text.charCodeAt(i + 2)] << 6) | DIGITS[text.charCodeAt(i + 3)];
    out[o] = bits >> 16;
    if (o + 1 < out.length) out[o + 1] = (bits >> 8) & 255;
    if (o + 2 < out.length) out[o + 2] = bits & 255;
  }
  return out;
}

export const float32 = (text) => new Float32Array(bytes(text).buffer);
export const uint32 = (text) => new Uint32Array(bytes(text).buffer);
export const int32 = (text) => new Int32Array(bytes(text).buffer);
export const uint16 = (text) => new Uint16Array(bytes(text).buffer);
export const int16 = (text) => new Int16Array(bytes(text).buffer);
export const int8 = (text) => new Int8Array(bytes(text).buffer);
