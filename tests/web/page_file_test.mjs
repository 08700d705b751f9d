// SPDX-License-Identifier: MIT
// What a page plays at the place of the listener, against the file of the sound; needs no browser.
// usage: node page_file_test.mjs PAGE.html X,Y,Z RIGHT_X,RIGHT_Y,RIGHT_Z LIMIT_DB
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { CameraSound } from '../../web/src/viewer/camera_sound.js';
import { Run } from '../../web/src/viewer/run.js';
import { SourceTracks } from '../../web/src/viewer/source_tracks.js';
import { parseWav } from '../../web/src/viewer/waveform.js';

const [page, eye, right, limit] = process.argv.slice(2);
const text = readFileSync(page, 'utf8').match(/<script[^>]*id="thrum-data"[^>]*>([^]*?)<\/script>/)[1];
const run = new Run(JSON.parse(text).runs[0]);
const tracks = new SourceTracks(run.sources.tracks, run.times);
const sound = new CameraSound(run.sources, (body, time) => tracks.at(body, time));
const { samples, channels } = parseWav(run.sound);
const camera = { eye: eye.split(',').map(Number), right: right.split(',').map(Number) };
// Without the fade at the end.
const count = Math.floor(samples.length / channels) - 1000;
let [difference, sum] = [0, 0];
for (let begin = 0; begin < count; begin += 1920) {
  const length = Math.min(1920, count - begin);
  const mixed = sound.mixRaw(begin / sound.rate, length, 1, camera, camera);
  for (let side = 0; side < 2; ++side) {
    for (let i = 0; i < length; ++i) {
      const wanted = samples[channels * (begin + i) + Math.min(side, channels - 1)];
      difference += (mixed[side][i] - wanted) ** 2;
      sum += wanted ** 2;
    }
  }
}
const level = 10 * Math.log10(difference / sum);
console.log(`the page differs from the file by ${level.toFixed(1)} dB`);
assert.ok(level < Number(limit), `${level} dB`);
