// SPDX-License-Identifier: MIT
// The pieces that the page plays follow a camera that moves evenly at its own speed, whatever the times of pictures and
// timers. usage: node camera_player_test.mjs
import assert from 'node:assert/strict';
import { CameraPlayer } from '../../web/src/viewer/camera_player.js';
import { CameraTrack } from '../../web/src/viewer/camera_track.js';

const RATE = 48000;
const SPEED = 2;             // of the camera [m/s]
let now = 0;                 // of the page [s]
let hardware = 128;          // samples by which the time of the sound advances at once
let fill = null;
class FakeContext {
  constructor() { this.state = 'running'; this.outputLatency = 0; this.created = now; }
  get currentTime() { return Math.floor((now - this.created) * (1 + 1e-4) * RATE / hardware) * hardware / RATE; }
  createGain() { return { gain: { value: 1 }, connect() {} }; }
  createBuffer() { return { copyToChannel() {} }; }
  createBufferSource() { return { connect() {}, start() {}, stop() {} }; }
  resume() { return Promise.resolve(); }
  close() {}
}
globalThis.AudioContext = FakeContext;
globalThis.document = { hidden: false };
globalThis.setInterval = (f) => { fill = f; return 1; };
globalThis.clearInterval = () => {};
performance.now = () => 1000 * now;

// Numbers from 0 to 1, the same in every run.
function random(seed) {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
}

// The speeds of all pieces [m/s] after the first half second, with pictures and timers at times that vary.
function speeds(frame, timer, buffer, seed) {
  [now, hardware] = [7.3 + seed, buffer];
  const [draw, track, list] = [random(seed), new CameraTrack(), []];
  const begin = now;
  const camera = () => ({ eye: [SPEED * (now - begin), 1, 0], right: [1, 0, 0] });
  track.add(now, camera());
  const sound = { rate: RATE, duration: 100, updateEnd() {}, mix(time, count, rate, before, after) {
    list.push({ time, speed: (after.eye[0] - before.eye[0]) * RATE / count });
    return [new Float32Array(count), new Float32Array(count)];
  } };
  const player = new CameraPlayer(sound, (time = now) => track.at(time));
  player.play();
  let [nextFrame, nextFill] = [now, now];
  while (now < begin + 6) {
    if (nextFrame < nextFill) {
      now = nextFrame;
      track.add(now, camera());
      nextFrame += frame * (0.5 + draw());
    } else {
      now = nextFill;
      fill();
      nextFill += timer * (0.6 + 0.8 * draw());
    }
  }
  return list.filter(({ time }) => time > 0.5).map(({ speed }) => speed);
}

for (const frame of [1 / 144, 1 / 60, 1 / 30]) {
  for (const timer of [0.01, 0.025, 0.04]) {
    for (const buffer of [128, 512]) {
      const found = speeds(frame, timer, buffer, 1 + Math.round(1e4 * (frame + timer)));
      assert.ok(found.length > 100);
      const worst = Math.max(...found.map((x) => Math.abs(x / SPEED - 1)));
      assert.ok(worst < 0.01, `pictures ${frame} s, timer ${timer} s, buffer ${buffer}: ${100 * worst} % off`);
    }
  }
}

// After a pause between pictures the camera was at rest, not on its way all the time.
const track = new CameraTrack();
track.add(0, { eye: [0, 0, 0], right: [1, 0, 0] });
track.add(10, { eye: [1, 0, 0], right: [0, 1, 0] });
assert.deepEqual(track.at(9).eye, [0, 0, 0]);
assert.ok(Math.abs(track.at(9.875).eye[0] - 0.5) < 1e-9);
assert.ok(Math.abs(Math.hypot(...track.at(9.875).right) - 1) < 1e-9);
assert.deepEqual(track.at(11).eye, [1, 0, 0]);
