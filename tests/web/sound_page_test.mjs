// SPDX-License-Identifier: MIT
// Plays a run with sound in step with its motion: play, pause, scrub, speed, sound off, waveform. usage: node
// sound_page_test.mjs PAGE.html CHROMIUM PLAYWRIGHT_FOLDER [PICTURE.png]
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { slowdown, withPage } from './browser.mjs';

const [pageFile, chromium, playwright, picture] = process.argv.slice(2);
const MAX_DRIFT = 0.15;  // between picture and sound, at 1 x on a machine of its own [s]

await withPage(chromium, playwright, { width: 1000, height: 700 }, async (page, problems) => {
  await page.goto(`${pathToFileURL(pageFile).href}#still`);
  await page.waitForSelector('body[data-ready]', { timeout: 60000 });
  const state = () => page.evaluate(() => {
    const { clock } = window.thrum;
    const audio = document.getElementById('sound');
    return { time: clock.time, playing: clock.playing, sound: audio.currentTime, paused: audio.paused,
      muted: audio.muted, rate: audio.playbackRate, pitch: audio.preservesPitch, duration: audio.duration,
      run: clock.duration };
  });
  await page.waitForFunction(() => document.getElementById('sound').readyState >= 2, { timeout: 60000 });

  // Scrub: the sound is where the motion is, and silent while it stands.
  const half = (await state()).run / 2;
  await page.evaluate((t) => window.thrum.clock.seek(t), half);
  const scrubbed = await state();
  assert.ok(Math.abs(scrubbed.sound - half) < 0.01, `sound at ${scrubbed.sound} s instead of ${half} s`);
  assert.ok(scrubbed.paused && scrubbed.duration >= scrubbed.run - 0.01);

  // Play from the beginning: both run on, together.
  const allowed = MAX_DRIFT * slowdown();
  const moments = await page.evaluate(async () => {
    const { clock } = window.thrum;
    const audio = document.getElementById('sound');
    clock.seek(0);
    clock.play(true);
    while (audio.currentTime < 0.1) await new Promise(requestAnimationFrame);
    const list = [];
    for (let k = 0; k < 5 && clock.playing; ++k) {
      await new Promise(requestAnimationFrame);
      if (clock.playing) list.push({ time: clock.time, sound: audio.currentTime, playing: clock.playing && !audio.paused, rate: audio.playbackRate });
    }
    return list;
  });
  assert.ok(moments.length > 0);
  for (const moment of moments) {
    assert.ok(moment.playing && moment.rate === 1, JSON.stringify(moments));
    assert.ok(Math.abs(moment.sound - moment.time) < allowed, `sound ${moment.sound} s, motion ${moment.time} s`);
  }
  assert.ok(moments.at(-1).sound > 0.1 && moments.at(-1).time > 0);
  if (picture) await page.screenshot({ path: picture });
  await page.evaluate(() => window.thrum.clock.play(false));
  const stopped = await state();
  assert.ok(stopped.paused && !stopped.playing);

  // At the end of the motion the sound rings out.
  const rings = await page.evaluate(async () => {
    const { clock } = window.thrum;
    const audio = document.getElementById('sound');
    clock.seek(clock.duration - 0.05);
    clock.play(true);
    while (clock.playing) await new Promise(requestAnimationFrame);
    return { paused: audio.paused, left: audio.duration - audio.currentTime };
  });
  assert.ok(!rings.paused || rings.left < 0.1, `cut off ${rings.left} s before the end of the sound`);
  await page.evaluate(() => window.thrum.clock.seek(0));
  assert.ok((await state()).paused);

  // Other speeds change the pitch with it.
  await page.evaluate(() => window.thrum.clock.setSpeed(0.5));
  const slow = await state();
  assert.equal(slow.rate, 0.5);
  assert.equal(slow.pitch, false);

  // The button.
  await page.click('#soundToggle');
  assert.equal((await state()).muted, true);
  assert.equal(await page.getAttribute('#soundToggle', 'aria-pressed'), 'false');
  await page.click('#soundToggle');
  assert.equal((await state()).muted, false);

  // The waveform is drawn under the timeline, in its colour.
  const green = await page.evaluate(() => {
    const canvas = document.getElementById('plots');
    const from = Math.round(canvas.height * 0.72);
    const { data } = canvas.getContext('2d').getImageData(0, from, canvas.width, canvas.height - from);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) count += data[i] === 0x4f && data[i + 1] === 0x7f && data[i + 2] === 0x5f;
    return count;
  });
  assert.ok(green > 20, `${green} pixels of the waveform`);
  assert.deepEqual(problems, []);
});
