// SPDX-License-Identifier: MIT
// Opens the page of `thrum modes show` in headless Chromium: it loads from disk, draws, plays, changes mode,
// can be struck, and prints nothing to the console. usage: node modes_page_test.mjs PAGE.html CHROMIUM
// PLAYWRIGHT_FOLDER
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { colours, pixels, withPage } from './browser.mjs';

const [pageFile, chromium, playwright] = process.argv.slice(2);

await withPage(chromium, playwright, { width: 900, height: 600 }, async (page, problems) => {
  await page.goto(pathToFileURL(pageFile).href);
  await page.waitForSelector('body[data-ready]', { timeout: 30000 });
  await page.waitForTimeout(1000);
  assert.ok(colours(await pixels(page)) > 20, 'the body is drawn');

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
  assert.deepEqual(problems, []);
});
console.log('1 passed, 0 failed');
