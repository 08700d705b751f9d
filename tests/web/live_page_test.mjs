// SPDX-License-Identifier: MIT
// `thrum view` on a folder whose run begins later: the page waits, shows the run, loads new data, and stops
// when the run is complete. usage: node live_page_test.mjs THRUM SCENE CHROMIUM PLAYWRIGHT_FOLDER
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { withPage } from './browser.mjs';

const [thrum, scene, chromium, playwright] = process.argv.slice(2);
const folder = await mkdtemp(path.join(os.tmpdir(), 'thrum-live-'));
const server = spawn(thrum, ['view', folder, '--wait'], { stdio: ['ignore', 'pipe', 'inherit'] });
let run = null;
try {
  const address = await new Promise((resolve) => {
    server.stdout.on('data', (text) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(String(text));
      if (found) resolve(found[0]);
    });
  });
  await withPage(chromium, playwright, { width: 800, height: 600 }, async (page, problems) => {
    await page.goto(address);
    assert.match(await page.textContent('body'), /no recording/);
    run = spawn(thrum, ['run', scene, '-o', folder, '--quiet', '--duration', '6']);
    await page.waitForSelector('body[data-ready]', { timeout: 60000 });
    const first = await page.evaluate(() => window.thrum.clock.duration);
    await page.waitForSelector('body[data-live=complete]', { timeout: 120000 });
    await page.waitForFunction(() => Math.abs(window.thrum.clock.duration - 6) < 1e-3, null, { timeout: 60000 });
    console.log(`first seen with ${first.toFixed(2)} s, then ${await page.evaluate(() => document.body.dataset.reloads ?? 0)} times more`);
    assert.deepEqual(problems, []);
  });
} finally {
  run?.kill();
  server.kill();
  await rm(folder, { recursive: true, force: true });
}
console.log('1 passed, 0 failed');
