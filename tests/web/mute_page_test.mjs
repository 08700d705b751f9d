// SPDX-License-Identifier: MIT
// Mutes a body on the page of a run with stems, by the button and by the key. usage: node mute_page_test.mjs
// PAGE.html CHROMIUM PLAYWRIGHT_FOLDER
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { withPage } from './browser.mjs';

const [pageFile, chromium, playwright] = process.argv.slice(2);

await withPage(chromium, playwright, { width: 1000, height: 700 }, async (page, problems) => {
  await page.goto(`${pathToFileURL(pageFile).href}#still`);
  await page.waitForSelector('body[data-ready]', { timeout: 60000 });
  const button = page.locator('#muteBody');
  assert.ok(await button.isHidden(), 'no body is followed yet');
  await page.evaluate(() => { const { thrum } = window; thrum.follow(0, thrum.runs[0].stems[0].body); });
  assert.ok(await button.isVisible());
  const heard = () => page.evaluate(() => ({
    energy: window.thrum.mixer.wav.samples.reduce((sum, x) => sum + x * x, 0),
    source: document.getElementById('sound').src,
  }));
  const before = await heard();
  assert.ok(before.energy > 0);
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  const muted = await heard();
  assert.ok(muted.energy < 1e-6 * before.energy, 'the only body is muted');
  assert.notEqual(muted.source, before.source, 'the player has the new sound');
  await page.keyboard.press('s');
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  assert.equal((await heard()).energy, before.energy);
  assert.deepEqual(problems, []);
});
