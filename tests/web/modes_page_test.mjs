// SPDX-License-Identifier: MIT
// Opens the page of `thrum modes show` in headless Chromium: it loads from disk, draws, plays, changes mode, can be struck,
// and says nothing on the console.
// usage: node modes_page_test.mjs PAGE.html CHROMIUM PLAYWRIGHT_FOLDER
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [page_file, chromium_file, playwright] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(path.join(playwright, 'index.mjs')));
const profile = await mkdtemp(path.join(os.tmpdir(), 'thrum-page-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: chromium_file,
  viewport: { width: 900, height: 600 },
  args: ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', '--autoplay-policy=no-user-gesture-required'],
});

// How many different colours the canvas shows: a blank or failed drawing has one.
const colours = (page) => page.evaluate(() => {
  const canvas = document.querySelector('canvas');
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [64, 64];
  const draw = copy.getContext('2d');
  draw.drawImage(canvas, 0, 0, 64, 64);
  const data = draw.getImageData(0, 0, 64, 64).data;
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
});

try {
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) said.push(message.text()); });
  page.on('pageerror', (error) => said.push(error.message));
  page.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) said.push(`asked for ${request.url()}`); });
  await page.goto(pathToFileURL(page_file).href);
  await page.waitForSelector('body[data-ready]', { timeout: 30000 });
  await page.waitForTimeout(1000);
  assert.ok(await colours(page) > 20, 'the body is drawn');

  const rows = await page.locator('#modes tr').count();
  assert.equal(rows, 6);
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('#caption').textContent(), /^Mode 2: /);
  await page.locator('#modes tr').nth(4).click();
  assert.match(await page.locator('#caption').textContent(), /^Mode 5: /);
  await page.locator('#play').click();
  assert.equal(await page.locator('#play').textContent(), 'Play');

  const box = await page.locator('canvas').boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(() => document.body.dataset.strikes === '1', null, { timeout: 10000 });

  await page.setViewportSize({ width: 390, height: 800 });
  await page.waitForTimeout(500);
  const small = await page.locator('canvas').boundingBox();
  assert.ok(small.width <= 391 && small.height > 300, 'fits a phone');
  assert.deepEqual(said.filter((text) => !/GPU stall|swiftshader|GL Driver/i.test(text)), []);
  console.log('1 passed, 0 failed');
} finally {
  await context.close();
  await rm(profile, { recursive: true, force: true });
}
