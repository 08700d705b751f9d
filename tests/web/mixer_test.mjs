// SPDX-License-Identifier: MIT
// Muting a body on the page takes its stem out of the sound, and nothing else. usage: node mixer_test.mjs
import assert from 'node:assert/strict';
import { Mixer } from '../../web/src/viewer/mixer.js';
import { parseWav } from '../../web/src/viewer/waveform.js';

const base64 = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

// A stereo WAV file of 32-bit floats.
function wav(samples) {
  const file = Buffer.alloc(44 + 4 * samples.length);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  [16, 48000, 8 * 48000].forEach((value, i) => file.writeUInt32LE(value, [16, 24, 28][i]));
  [3, 2, 8, 32].forEach((value, i) => file.writeUInt16LE(value, [20, 22, 32, 34][i]));
  file.write('data', 36);
  file.writeUInt32LE(4 * samples.length, 40);
  samples.forEach((value, i) => file.writeFloatLE(value, 44 + 4 * i));
  return file.toString('base64');
}

// Bodies 3 and 5 sound; 5 only from the third frame on.
const count = 200;
const three = Int16Array.from({ length: 2 * count }, (_, i) => 100 * Math.sin(i));
const five = Int16Array.from({ length: 2 * count - 6 }, (_, i) => 50 * Math.cos(i));
const whole = Array.from({ length: 2 * count }, (_, i) => 0.001 * three[i] + 0.002 * (i < 6 ? 0 : five[i - 6]));
const run = { sound: wav(whole), stems: [{ body: 3, first: 0, scale: 0.001, samples: base64(three) },
                                         { body: 5, first: 6, scale: 0.002, samples: base64(five) }] };
const mixer = new Mixer(run);
const largest = (samples, expected) => Math.max(...samples.map((value, i) => Math.abs(value - expected(i))));
assert.equal(mixer.canMute(4), false);
assert.equal(mixer.canMute(5), true);
mixer.toggle(5);
assert.ok(largest(mixer.wav.samples, (i) => 0.001 * three[i]) < 1e-7);
// What the browser gets holds the same samples.
const file = parseWav(Buffer.from(mixer.file).toString('base64'));
assert.deepEqual([file.rate, file.channels], [48000, 2]);
assert.deepEqual(file.samples, mixer.wav.samples);
mixer.toggle(3);
assert.ok(largest(mixer.wav.samples, () => 0) < 1e-7);
mixer.toggle(5);
mixer.toggle(3);
assert.ok(largest(mixer.wav.samples, (i) => whole[i]) < 1e-7);
