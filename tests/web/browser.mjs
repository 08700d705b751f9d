// SPDX-License-Identifier: MIT
// Shared by the tests of the pages: a headless Chromium, and comparison of what it drew.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// Calls use(page, problems) with a new page; `problems` collects console messages and network requests.
export async function withPage(chromiumFile, playwright, viewport, use) {
  const { chromium } = await import(pathToFileURL(path.join(playwright, 'index.mjs')));
  const profile = await mkdtemp(path.join(os.tmpdir(), 'thrum-page-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumFile,
    viewport,
    args: ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
      '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--autoplay-policy=no-user-gesture-required'],
  });
  try {
    const page = await context.newPage();
    const problems = [];
    page.on('console', (message) => {
      const text = message.text();
      if (['error', 'warning'].includes(message.type()) && !/GPU stall|swiftshader|GL Driver/i.test(text)) problems.push(text);
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!/^(file|data|blob|http:\/\/127\.0\.0\.1):?/.test(request.url())) problems.push(`asked for ${request.url()}`);
    });
    await use(page, problems);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

// The slowdown of a computation by other processes on this machine: 1 when nothing else runs.
export function slowdown() {
  const start = process.hrtime.bigint();
  const before = process.cpuUsage();
  let used = 0;
  for (let x = 0; used < 300000; x = Math.sin(x + 1)) {
    const now = process.cpuUsage(before);
    used = now.user + now.system;
  }
  return Math.max(1, Number(process.hrtime.bigint() - start) / 1000 / used);
}

// The canvas of the stage as small as `size` x `size` pixels: [r, g, b, a, r, ...].
export const pixels = (page, size = 64) => page.evaluate((n) => {
  const canvas = document.querySelector('#stage canvas');
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [n, n];
  const draw = copy.getContext('2d');
  draw.drawImage(canvas, 0, 0, n, n);
  return [...draw.getImageData(0, 0, n, n).data];
}, size);

// How many different colours there are: a blank or failed drawing has one.
export function colours(data) {
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
}

// How many pixels of two drawings are clearly different.
export function difference(a, b) {
  let count = 0;
  for (let i = 0; i < a.length; i += 4) {
    if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 24) ++count;
  }
  return count;
}
