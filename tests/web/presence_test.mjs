// SPDX-License-Identifier: MIT
// A body that appears and is removed is shown from its first frame until it is removed. Needs no browser.
// usage: node presence_test.mjs
import assert from 'node:assert/strict';
import { Run } from '../../web/src/viewer/run.js';

const base64 = (values) => Buffer.from(values.buffer).toString('base64');
const times = Float32Array.from({ length: 11 }, (_, i) => i / 10);
const none = new Proxy({}, { get: () => '' });
const run = new Run({ planes: [], bodies: [], modes: [], meshes: [], links: [], tracks: none, contacts: none,
  hits: none, responses: none, series: { times: base64(times), kinetic: '', potential: '', elastic: '', impulse: '' } });

// Times of the data are doubles, those of frames floats.
const body = { from: 0.3, until: 0.7 };
for (let f = 0; f <= 10; f += 0.25) {
  assert.equal(run.isShown(body, f), f >= 3 && f < 7, `frame ${f}`);
  assert.equal(run.isShown({ from: 0.3 }, f), f >= 3, `from, frame ${f}`);
  assert.equal(run.isShown({ until: 0.7 }, f), f < 7, `until, frame ${f}`);
  assert.equal(run.isShown({}, f), true);
  assert.equal(run.isShown({ from: 3.4028234663852886e38 }, f), false, 'never in a frame');
}
