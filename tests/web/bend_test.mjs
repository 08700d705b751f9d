// SPDX-License-Identifier: MIT
// The amplitudes of a body that bends, between frames and outside those in which it is bent. Needs no browser.
// usage: node bend_test.mjs
import assert from 'node:assert/strict';
import { Run } from '../../web/src/viewer/run.js';

const base64 = (values) => Buffer.from(values.buffer).toString('base64');
const none = new Proxy({}, { get: () => '' });
const bends = [{ mesh: 0,
  targets: [{ positions: { scale: 0.5, values: base64(Int16Array.of(0, 2, -2)) }, normals: { scale: 2, values: base64(Int16Array.of(1, 0, 3)) } }],
  bodies: [{ body: 4, targets: [0, 2], first: 2, count: 3, amplitudes: base64(Float32Array.of(1, 10, 3, 0, 2, -8)) }] }];
const run = new Run({ planes: [], bodies: [], modes: [], meshes: [], tracks: none, contacts: none, hits: none,
  responses: none, series: { times: base64(Float32Array.of(0, 1, 2, 3, 4, 5, 6)), kinetic: '', potential: '', elastic: '', impulse: '' }, bends });

assert.deepEqual([...run.targets.get(0)[0].positions], [0, 1, -1]);
assert.deepEqual([...run.targets.get(0)[0].normals], [2, 0, 6]);
const expected = [[0, 0, 0], [1, 0, 0], [1.5, 0.5, 5], [2, 1, 10], [2.25, 1.5, 7.5], [3, 3, 0], [4, 2, -8], [4.75, 0.5, -2], [5, 0, 0], [6, 0, 0]];
for (const [frame, a, b] of expected) assert.deepEqual(run.bend(4, frame, [7, 7]), [a, b], `frame ${frame}`);
assert.equal(run.bends.has(0), false);
console.log('1 passed, 0 failed');
