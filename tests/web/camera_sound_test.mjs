// SPDX-License-Identifier: MIT
// What the page plays at its camera, against the closed form s(t - r / c) / r. usage: node camera_sound_test.mjs
import assert from 'node:assert/strict';
import { CameraSound } from '../../web/src/viewer/camera_sound.js';
import { SourceTracks } from '../../web/src/viewer/source_tracks.js';

const [RATE, BLOCK, FRAMES, C] = [48000, 2048, 48 * 2048, 343];
const base64 = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');
const emitted = (f) => (t) => 3 * Math.sin(2 * Math.PI * f * t);  // [Pa m]

// The data of a page with bodies that emit the given functions of time from sample 0 to FRAMES.
function soundOf(signals, centreOf, extra = {}) {
  const [bodies, blocks, scales, samples] = [[], [], [], []];
  signals.forEach(([body, signal, from = 0, to = FRAMES / BLOCK]) => {
    for (let n = from; n < to; ++n) {
      bodies.push(body);
      blocks.push(n);
      scales.push(4 / 32767);
      for (let i = 0; i < BLOCK; ++i) samples.push(Math.round(signal((n * BLOCK + i) / RATE) / 4 * 32767));
    }
  });
  return new CameraSound({ rate: RATE, block: BLOCK, frames: FRAMES, full_scale: 2, sound_speed: C, spacing: 0.2,
    bodies: base64(Int32Array.from(bodies)), blocks: base64(Int32Array.from(blocks)), scales: base64(Float32Array.from(scales)),
    samples: base64(Int16Array.from(samples)), ...extra }, centreOf);
}

const at = (eye) => ({ eye, right: [1, 0, 0] });
const distance = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
// Of both channels to expected(time, side), relative to the largest expected.
function error(channels, start, speed, expected) {
  let [worst, largest] = [0, 0];
  channels.forEach((out, side) => out.forEach((x, i) => {
    const wanted = expected(start + i * speed / RATE, side);
    worst = Math.max(worst, Math.abs(x - wanted));
    largest = Math.max(largest, Math.abs(wanted));
  }));
  return worst / largest;
}

// Level, travel time and the delay between the ears, at three pitches and from the side.
for (const f of [200, 1000, 8000]) {
  const signal = emitted(f);
  for (const source of [[0, 2, 0], [-3, 0, 0], [0, 40, 9]]) {
    const sound = soundOf([[7, signal]], () => source);
    const heard = (t, side) => {
      const r = distance([side ? 0.1 : -0.1, 0, 0], source);
      return signal(t - r / C) / r / 2;  // over full scale
    };
    assert.ok(error(sound.mixRaw(0.5, 3000, 1, at([0, 0, 0]), at([0, 0, 0])), 0.5, 1, heard) < 4e-3, `${f} Hz from ${source}`);
    // A second as long: every sample of the file is played twice as slow.
    assert.ok(error(sound.mixRaw(0.5, 3000, 0.5, at([0, 0, 0]), at([0, 0, 0])), 0.5, 0.5, heard) < 4e-3, `${f} Hz, slow`);
  }
}

// A camera that moves away at 20 m/s, and a body that comes at 15 m/s: phases, and so the shift of pitch, follow.
{
  const signal = emitted(1000);
  const still = soundOf([[0, signal]], () => [0, 0, 0]);
  const count = 4800;
  const away = still.mixRaw(1, count, 1, at([0, -2, 0]), at([0, -4, 0]));
  const heard = (t, side) => {
    const r = distance([side ? 0.1 : -0.1, -2 - 20 * (t - 1), 0], [0, 0, 0]);
    return signal(t - r / C) / r / 2;
  };
  assert.ok(error(away, 1, 1, heard) < 6e-3);
  const coming = soundOf([[0, signal]], (body, t) => [0, 30 - 15 * t, 0]);
  const near = (t, side) => {
    let emission = t;
    for (let k = 0; k < 30; ++k) emission = t - distance([side ? 0.1 : -0.1, 0, 0], [0, 30 - 15 * emission, 0]) / C;
    return signal(emission) / (C * (t - emission)) / 2;
  };
  assert.ok(error(coming.mixRaw(1, count, 1, at([0, 0, 0]), at([0, 0, 0])), 1, 1, near) < 6e-3);
}

// The ground is a mirrored source, and closer than 0.1 m nothing grows.
{
  const signal = emitted(500);
  const sound = soundOf([[0, signal]], () => [0, 3, 1], { ground: { height: -0.5, reflection: 0.9 } });
  const heard = (t, side) => {
    const ear = [side ? 0.1 : -0.1, 0, 0];
    const [r, far] = [distance(ear, [0, 3, 1]), distance(ear, [0, 3, -2])];
    return (signal(t - r / C) / r + 0.9 * signal(t - far / C) / far) / 2;
  };
  assert.ok(error(sound.mixRaw(1, 2000, 1, at([0, 0, 0]), at([0, 0, 0])), 1, 1, heard) < 4e-3);
  const inside = soundOf([[0, signal]], () => [0.1, 0, 0]);
  const [, right] = inside.mixRaw(1, 2000, 1, at([0, 0, 0]), at([0, 0, 0]));
  assert.ok(Math.abs(Math.max(...right) - 3 / 0.1 / 2) < 0.1);
}

// Muted bodies are missing and nothing else; silence is silence; blocks of any length join.
{
  const [a, b] = [emitted(300), emitted(700)];
  const both = soundOf([[1, a], [2, b, 10, 20]], (body) => [body, 2, 0]);
  const alone = soundOf([[1, a]], () => [1, 2, 0]);
  const whole = both.mixRaw(0.45, 4000, 1, at([0, 0, 0]), at([0, 0, 0]));
  both.muted.add(2);
  const muted = both.mixRaw(0.45, 4000, 1, at([0, 0, 0]), at([0, 0, 0]));
  assert.deepEqual(muted, alone.mixRaw(0.45, 4000, 1, at([0, 0, 0]), at([0, 0, 0])));
  assert.notDeepEqual(muted, whole);
  both.muted.add(1);
  assert.ok(both.mixRaw(0.45, 4000, 1, at([0, 0, 0]), at([0, 0, 0])).every((out) => out.every((x) => x === 0)));
  const two = [alone.mixRaw(0.5, 1000, 1, at([0, 0, 0]), at([0, 0, 0])), alone.mixRaw(0.5 + 1000 / RATE, 1000, 1, at([0, 0, 0]), at([0, 0, 0]))];
  const one = alone.mixRaw(0.5, 2000, 1, at([0, 0, 0]), at([0, 0, 0]));
  one[0].forEach((x, i) => assert.ok(Math.abs(x - (i < 1000 ? two[0][0][i] : two[1][0][i - 1000])) < 1e-3));
  // The picture of the whole has its level.
  const { samples, channels, rate } = alone.overview(at([0, 0, 0]));
  assert.deepEqual([samples.length, channels, rate], [FRAMES, 1, RATE]);
  assert.ok(Math.abs(Math.max(...samples) - 3 / Math.hypot(1, 2) / 2) < 0.01);
}

// A camera that jumps is faded over; one that comes close is turned down instead of being cut off.
{
  const signal = emitted(400);
  const sound = soundOf([[0, signal]], () => [0, 0, 0]);
  const [left] = sound.mix(1, 1920, 1, at([0, -20, 0]), at([0, -4, 0]));
  const steepest = 2 * Math.PI * 400 / RATE * 3 / 4 / 2;  // of the louder end
  for (let i = 1; i < left.length; ++i) assert.ok(Math.abs(left[i] - left[i - 1]) < 1.3 * steepest, `${i}`);
  const loud = sound.mix(1, 1920, 1, at([0, -0.5, 0]), at([0, -0.5, 0]));
  assert.ok(Math.max(...loud[0]) <= 1 && Math.max(...loud[0].subarray(200)) > 0.95);
  // Turned down, a sine stays one: its mean square is half that of its peak.
  const square = loud[0].subarray(120, 120 + 1440).reduce((sum, x) => sum + x * x / 1440, 0);  // 12 periods
  assert.ok(Math.abs(square / (0.98 * 0.98 / 2) - 1) < 0.02, `${square}`);
  let quiet;
  for (let k = 0; k < 100; ++k) quiet = sound.mix(1, 1920, 1, at([0, -4, 0]), at([0, -4, 0]));
  assert.ok(Math.abs(Math.max(...quiet[0]) - 3 / Math.hypot(4, 0.1) / 2) < 0.01, 'the level comes back');
}

// Pieces as the page plays them from a time until the end, at one ear.
function played(sound, from, camera, piece = 1920) {
  const out = [];
  for (let k = 0; ; ++k) {
    const time = from + k * piece / RATE;
    sound.updateEnd(time, camera);
    if (time >= sound.duration) return out;
    out.push(...sound.mix(time, piece, 1, camera, camera)[0]);
  }
}

// A sound that was cut fades out over its last 5 ms when it ends at the camera, near or far; one that was not is
// heard to its end, also when the camera is farther away than the listener was.
for (const y of [0.5, 3, 20, 200]) {
  const r = Math.hypot(y, 0.1);
  const signal = emitted(1000);
  const cut = soundOf([[0, signal]], () => [0, y, 0], { cut: true, full_scale: 10 });
  const heard = played(cut, 1.5, at([0, 0, 0]));
  const end = Math.floor(FRAMES + r / C * RATE);
  assert.equal(Math.round(cut.duration * RATE), end);
  const level = 3 / r / 10;
  heard.forEach((x, i) => {
    const t = 1.5 + i / RATE;
    const left = (end - 1 - 1.5 * RATE - i) / (0.005 * RATE);
    const fade = left >= 1 ? 1 : left > 0 ? 0.5 - 0.5 * Math.cos(Math.PI * left) : 0;
    assert.ok(Math.abs(x - fade * signal(t - r / C) / r / 10) < 6e-3 * level, `${y} m, sample ${i} of ${heard.length}: ${x / level}`);
  });
  assert.ok(Math.max(...heard.slice(end - 1.5 * RATE - 400, end - 1.5 * RATE - 240)) > 0.9 * level, `${y} m: loud before`);

  const knock = (t) => (Math.abs(t - (FRAMES - 300) / RATE) < 2e-3 ? signal(t) : 0);
  const whole = soundOf([[0, knock]], () => [0, y, 0], { full_scale: 10 });
  assert.ok(Math.max(...played(whole, 1.5, at([0, 0, 0]))) > 0.9 * level, `${y} m: the knock at the end`);
}

// A body that falls, hits the floor and rises: at a tone of 5 kHz the page is the closed form, from places of 60 frames
// a second. With lines between the frames it differs by -38 dB. Around the bounce, where the speed jumps between two
// frames, the cubic cannot know when.
{
  const g = 9.81;
  const bounce = Math.sqrt(2 * 2.5 / g);
  const height = (t) => (t < bounce ? 2.5 - g * t * t / 2 : 4 * (t - bounce) - g * (t - bounce) ** 2 / 2);
  const times = Float32Array.from({ length: 130 }, (_, i) => i / 60);
  const positions = Float32Array.from([...times].flatMap((t) => [0.3 * t, 1, height(t)]));
  const far = Float32Array.from([5, 5, 5]);
  const tracks = new SourceTracks({ counts: base64(Uint32Array.from([0, 1, 130])),
    frames: base64(Uint32Array.from([7, ...times.keys()])), positions: base64(Float32Array.from([...far, ...positions])) }, times);
  assert.deepEqual(tracks.at(1, 1.2), [5, 5, 5]);
  assert.deepEqual(tracks.at(2, -1), tracks.at(2, 0));
  assert.deepEqual(tracks.at(2, 9), [...positions.subarray(-3)]);
  const signal = emitted(5000);
  const sound = soundOf([[2, signal]], (body, t) => tracks.at(body, t));
  const heard = (t, side) => {
    let emission = t;
    const way = () => distance([side ? 0.1 : -0.1, 0, 1], [0.3 * emission, 1, height(emission)]);
    for (let k = 0; k < 30; ++k) emission = t - way() / C;
    return signal(emission) / way() / 2;
  };
  for (const [from, count] of [[0.1, 24000], [0.8, 24000], [1.4, 9600]]) {
    const mixed = sound.mixRaw(from, count, 1, at([0, 0, 1]), at([0, 0, 1]));
    let [difference, sum] = [0, 0];
    mixed.forEach((out, side) => out.forEach((x, i) => {
      const wanted = heard(from + i / RATE, side);
      difference += (x - wanted) ** 2;
      sum += wanted ** 2;
    }));
    assert.ok(10 * Math.log10(difference / sum) < -50, `from ${from} s: ${10 * Math.log10(difference / sum)} dB`);
  }
}

// The air: taps (a, 1 - 2 a, a) with a = distance / 100 pass a tone of f with 1 - 2 a (1 - cos(2 pi f / rate)), between
// the distances of the table as well, while body and camera move; nothing is later or earlier.
{
  const taps = [0, 1, 9].flatMap((r) => [1 - 2 * r / 100, r / 100, 0, 0]);
  const air = { distances: [0, 1, 9], taps: base64(Float32Array.from(taps)), used: [1, 1, 1] };
  for (const f of [500, 6000]) {
    const signal = emitted(f);
    const heardAt = (place, speed) => (t, side) => {
      let emission = t;
      const ear = [side ? 0.1 : -0.1, speed * (t - 1), 0];
      const way = () => distance(ear, place(emission));
      for (let k = 0; k < 30; ++k) emission = t - way() / C;
      const gain = 1 - 2 * way() / 100 * (1 - Math.cos(2 * Math.PI * f / RATE));
      return gain * signal(emission) / way() / 2;
    };
    for (const [place, speed] of [[() => [0, 2, 0], 0], [() => [0, 7, 1], 0], [(t) => [0, 9 - 3 * t, 0], -4]]) {
      const sound = soundOf([[0, signal]], (body, t) => place(t), { air });
      const mixed = sound.mixRaw(1, 3840, 1, at([0, 0, 0]), at([0, speed * 0.08, 0]));
      assert.ok(error(mixed, 1, 1, heardAt(place, speed)) < 6e-3, `${f} Hz, camera at ${speed} m/s`);
    }
  }
}
