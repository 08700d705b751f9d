// SPDX-License-Identifier: MIT
// The camera of a page carries the listener: by default where the scene gives it no place, otherwise by a button.
// usage: node camera_page_test.mjs CAMERA_PAGE.html LISTENER_PAGE.html CHROMIUM PLAYWRIGHT_FOLDER [PICTURE.png]
//
// Both pages are of the same bar, tapped in the air; the second has a listener at a given place.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { slowdown, withPage } from './browser.mjs';

const [cameraPage, listenerPage, chromium, playwright, picture] = process.argv.slice(2);
const MAX_DRIFT = 0.15;  // between picture and sound, at 1 x on a machine of its own [s]

async function open(page, file) {
  await page.goto(`${pathToFileURL(file).href}#still`);
  await page.waitForSelector('body[data-ready]', { timeout: 60000 });
}

await withPage(chromium, playwright, { width: 1000, height: 700 }, async (page, problems) => {
  // Without a place the camera is the listener, and sounds are made in the page.
  await open(page, cameraPage);
  const button = page.locator('#listenHere');
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  const setup = await page.evaluate(() => {
    const { thrum } = window;
    const { position } = thrum.stage.camera;
    return { player: typeof thrum.clock.audio.sound, eye: thrum.ears.eye, camera: position.toArray(), source: thrum.here.centreOf(0, 1) };
  });
  assert.equal(setup.player, 'object');
  assert.deepEqual(setup.eye, setup.camera);

  // Twice as far from the bar it is half as loud and later by the way; from the left the other ear is first.
  const moved = await page.evaluate(() => {
    const { thrum } = window;
    const { camera, controls } = thrum.stage;
    const heard = () => {
      camera.updateMatrixWorld();
      return thrum.here.mixRaw(0, 24000, 1, thrum.ears, thrum.ears);
    };
    const first = (samples) => {
      // Above what the interpolation between samples rings before an onset.
      const limit = 0.02 * samples.reduce((largest, x) => Math.max(largest, Math.abs(x)), 0);
      return samples.findIndex((x) => Math.abs(x) > limit);
    };
    const rms = (samples) => {
      const from = first(samples) + 4800;
      return Math.sqrt(samples.subarray(from, from + 9600).reduce((sum, x) => sum + x * x, 0));
    };
    const away = camera.position.clone().sub(controls.target);
    const places = [1, 2].map((factor) => {
      camera.position.copy(controls.target).addScaledVector(away, factor);
      controls.update();
      const [left] = heard();
      return { distance: Math.hypot(...thrum.ears.eye.map((x, k) => x - thrum.here.centreOf(0, 1)[k])), rms: rms(left), first: first(left) };
    });
    // Looking past the bar, which is then on the left.
    camera.position.set(0, -1, 0);
    controls.target.set(1, -1, 0);
    controls.update();
    const [left, right] = heard();
    return { places, left: first(left), right: first(right), speed: thrum.here.soundSpeed, rate: thrum.here.rate };
  });
  const [near, far] = moved.places;
  assert.ok(Math.abs(near.rms / far.rms - far.distance / near.distance) < 0.02 * far.distance / near.distance, JSON.stringify(moved));
  const later = (far.distance - near.distance) / moved.speed * moved.rate;
  assert.ok(Math.abs(far.first - near.first - later) < 3, JSON.stringify(moved));
  const between = 0.2 / moved.speed * moved.rate;
  assert.ok(Math.abs(moved.right - moved.left - between) < 3, JSON.stringify(moved));

  // Played, it runs with the motion, pauses, and is muted by its button.
  await page.evaluate(() => window.thrum.lookAtAll());
  const allowed = MAX_DRIFT * slowdown();
  const moments = await page.evaluate(async () => {
    const { clock } = window.thrum;
    clock.seek(0);
    clock.play(true);
    while (clock.audio.currentTime < 0.1) await new Promise(requestAnimationFrame);
    const list = [];
    for (let k = 0; k < 5 && clock.playing; ++k) {
      await new Promise(requestAnimationFrame);
      list.push({ time: clock.time, sound: clock.audio.currentTime, nodes: clock.audio.nodes.size });
    }
    return list;
  });
  for (const { time, sound, nodes } of moments) {
    assert.ok(Math.abs(time - sound) < allowed, `sound ${sound} s, motion ${time} s`);
    assert.ok(nodes > 0);
  }
  if (picture) await page.screenshot({ path: picture });
  await page.click('#soundToggle');
  assert.equal(await page.evaluate(() => window.thrum.clock.audio.output.gain.value), 0);
  await page.click('#soundToggle');
  const stopped = await page.evaluate(() => {
    const { clock } = window.thrum;
    clock.play(false);
    return { paused: clock.audio.paused, nodes: clock.audio.nodes.size };
  });
  assert.deepEqual(stopped, { paused: true, nodes: 0 });

  // Bodies can be muted without stems; the waveform under the timeline is then that of the rest.
  const muted = await page.evaluate(() => {
    const { thrum } = window;
    thrum.follow(0, 0);
    const visible = !document.getElementById('muteBody').hidden;
    thrum.toggleMute();
    const [left] = thrum.here.mixRaw(0, 24000, 1, thrum.ears, thrum.ears);
    const silent = left.every((x) => x === 0);
    thrum.toggleMute();
    return { visible, silent };
  });
  assert.deepEqual(muted, { visible: true, silent: true });

  // With a place the file is played, until the button is pressed; there the page makes the same sound as the file.
  await open(page, listenerPage);
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  assert.equal(await page.evaluate(() => window.thrum.clock.audio.id), 'sound');
  const agreement = await page.evaluate(() => {
    const { here, mixer } = window.thrum;
    const { samples, channels } = mixer.whole;
    const count = Math.floor(samples.length / channels) - 1000;
    const place = { eye: [0, -0.6, 0.5], right: [1, 0, 0] };  // it looks at the bar, along y and down
    const mixed = here.mixRaw(0, count, 1, place, place);
    let [difference, sum] = [0, 0];
    for (let i = 0; i < count; ++i) {
      for (let side = 0; side < 2; ++side) {
        difference += (mixed[side][i] - samples[channels * i + side]) ** 2;
        sum += samples[channels * i + side] ** 2;
      }
    }
    return 10 * Math.log10(difference / sum);
  });
  assert.ok(agreement < -45, `${agreement} dB`);
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  assert.equal(await page.evaluate(() => typeof window.thrum.clock.audio.sound), 'object');
  await page.keyboard.press('l');
  assert.equal(await page.evaluate(() => window.thrum.clock.audio.id), 'sound');
  assert.deepEqual(problems, []);
  console.log(`sound of the page at the place of the listener: ${agreement.toFixed(1)} dB from the file`);
});
