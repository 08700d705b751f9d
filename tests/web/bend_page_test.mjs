// SPDX-License-Identifier: MIT
// The page of a run in which a strip swings by centimetres: its end is drawn where the amplitudes of its modes
// put it, and not where it would be if it were straight. usage: node bend_page_test.mjs PAGE.html CHROMIUM
// PLAYWRIGHT_FOLDER BODY
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { withPage } from './browser.mjs';

const [pageFile, chromium, playwright, name] = process.argv.slice(2);

await withPage(chromium, playwright, { width: 900, height: 700 }, async (page, problems) => {
  await page.goto(`${pathToFileURL(pageFile)}#still`);
  await page.waitForFunction(() => document.body.dataset.ready === 'yes', null, { timeout: 30000 });

  // At the time of the largest amplitude: where the corner that moves farthest is, straight and bent, from the
  // data of the page alone.
  const at = await page.evaluate((body) => {
    const [run] = window.thrum.runs;
    const b = run.bodies.findIndex((candidate) => candidate.name === body);
    const { targets, first, count, amplitudes } = run.bends.get(b);
    const modes = targets.map((target) => run.targets.get(run.bodies[b].mesh)[target]);
    let [frame, most] = [0, 0];
    for (let f = 0; f < count; ++f) {
      const size = Math.abs(amplitudes[f * targets.length]);
      if (size > most) [frame, most] = [f, size];
    }
    const { positions } = run.meshes[run.bodies[b].mesh];
    const [straight, bent] = [[], []];
    let length = 0;
    for (let v = 0; v < positions.length; v += 3) {
      const d = [0, 1, 2].map((k) => modes.reduce((sum, mode, m) => sum + amplitudes[frame * targets.length + m] * mode.positions[v + k], 0));
      if (Math.hypot(...d) <= length) continue;
      length = Math.hypot(...d);
      for (let k = 0; k < 3; ++k) [straight[k], bent[k]] = [positions[v + k], positions[v + k] + d[k]];
    }
    return { b, time: run.times[first + frame], straight, bent, length };
  }, name);
  assert.ok(at.length > 0.005, `the end moves by ${at.length} m`);

  const seek = async (time) => {
    await page.evaluate((t) => { window.thrum.clock.play(false); window.thrum.clock.seek(t); }, time);
    const before = await page.evaluate(() => Number(document.body.dataset.pictures));
    await page.evaluate(() => window.thrum.stage.requestRedraw());
    await page.waitForFunction((n) => Number(document.body.dataset.pictures) > n, before, { timeout: 20000 });
  };
  // The body under the projection of a point, a little towards the clamped end, and how red the picture is there.
  const under = (point) => page.evaluate((p) => {
    const { camera, renderer } = window.thrum.stage;
    camera.updateMatrixWorld();
    const place = camera.position.clone().fromArray(p).project(camera);
    const box = renderer.domElement.getBoundingClientRect();
    const [x, y] = [(place.x + 1) / 2, (1 - place.y) / 2];
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [renderer.domElement.width, renderer.domElement.height];
    window.thrum.stage.requestRedraw();
    return new Promise((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const draw = copy.getContext('2d');
        draw.drawImage(renderer.domElement, 0, 0);
        const [px, py] = [Math.round(x * copy.width), Math.round(y * copy.height)];
        let red = -255;
        // Within three pixels: the strip is seen from its side.
        const { data } = draw.getImageData(px - 3, py - 3, 7, 7);
        for (let i = 0; i < data.length; i += 4) red = Math.max(red, data[i] - data[i + 1]);
        resolve({ body: window.thrum.pick(box.left + x * box.width, box.top + y * box.height)[1], red });
      }));
    });
  }, point);
  // 2 mm from the corner, on the side that the camera sees.
  const inward = (p) => [p[0] - 0.002, Math.min(p[1], -0.015), p[2]];

  await seek(at.time);
  const [bent, straight] = [await under(inward(at.bent)), await under(inward(at.straight))];
  assert.ok(bent.red > 40, `the strip is drawn where it is bent to: ${JSON.stringify({ at, bent, straight })}`);
  assert.ok(straight.red < 20, `and not where it would be if it were straight: ${JSON.stringify({ at, bent, straight })}`);
  assert.notEqual(straight.body, at.b, 'nor is it found there');

  // Before the impact it is straight.
  await seek(0);
  assert.ok((await under(inward(at.straight))).red > 40, 'straight at first');
  assert.ok((await under(inward(at.bent))).red < 20);

  // It is hidden and found as other bodies are.
  await page.evaluate((b) => window.thrum.follow(0, b), at.b);
  assert.deepEqual(problems, []);
});
console.log('1 passed, 0 failed');
