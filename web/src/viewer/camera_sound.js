// SPDX-License-Identifier: MIT
// What is heard at the camera: the sound that each body emits, on its way to a pair of points beside the eye.
//
// A body emits s(t) [Pa m] from its centre x. At a point y at rest or in motion
//
//     p(t) = s(t_e) / r,     c (t - t_e) = |y(t) - x(t_e)| = r,                                       (1)
//
// and the level ground adds the same from the mirrored centre. Travel times are linear between control points,
// so the pitch follows the motion of camera and body. What the air absorbs on the way to the eye (air.js) is taken
// from s before, for both points of the pair at once.
import { float32, int16, int32 } from '../shared/data.js';
import { Air } from './air.js';

const TAPS = 16;             // of the fractional delay: a sinc under a Kaiser window
const PHASES = 512;          // tabulated fractions of a sample
const KAISER = 6;
const CONTROL = 64;          // samples between exact travel times
const ITERATIONS = 8;        // for the time of emission; each lowers the error by the Mach number of the body
const SAME_DELAY = 1e-4;     // ends them [samples]
const MIN_DISTANCE = 0.1;    // closer than this the pressure does not grow [m]
const MAX_EAR_SPEED = 30;    // above this the camera jumps instead of moving, without a shift of pitch [m/s]
const MAX_LEVEL = 0.98;      // of full scale; what is louder is turned down
const RELEASE = 0.7;         // in which the level comes back by a factor e [s]
const FADE_OUT = 0.005;      // at the end, by half a cosine, as in the file [s]

function besselI0(x) {
  let [term, sum] = [1, 1];
  for (let k = 1; term > 1e-12 * sum; ++k) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

// Row f holds the weights of samples -TAPS/2 + 1 ... TAPS/2 for the position f / PHASES between 0 and 1.
const WEIGHTS = (() => {
  const table = new Float32Array((PHASES + 1) * TAPS);
  for (let phase = 0; phase <= PHASES; ++phase) {
    let sum = 0;
    for (let k = 0; k < TAPS; ++k) {
      const x = k - TAPS / 2 + 1 - phase / PHASES;
      const u = x / (TAPS / 2);
      const window = Math.abs(u) < 1 ? besselI0(KAISER * Math.sqrt(1 - u * u)) / besselI0(KAISER) : 0;
      table[phase * TAPS + k] = window * (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
      sum += table[phase * TAPS + k];
    }
    for (let k = 0; k < TAPS; ++k) table[phase * TAPS + k] /= sum;
  }
  return table;
})();

export class CameraSound {
  // `data` as of the page; centreOf(body, time) gives where the sound of a body comes from, [x, y, z].
  constructor(data, centreOf) {
    this.rate = data.rate;
    this.fullScale = data.full_scale;
    this.soundSpeed = data.sound_speed;
    this.spacing = data.spacing;
    this.ground = data.ground ?? null;
    this.air = data.air ? new Air(data.air) : null;
    this.frames = data.frames;
    this.blockSize = data.block;
    this.centreOf = centreOf;
    this.muted = new Set();
    this.level = 1;
    this.isCut = data.cut ?? false;  // it ended while bodies still sounded
    this.end = data.frames;  // of what is heard, where the camera is [samples]
    this.sources = new Map();
    const [owners, numbers, scales, samples] = [int32(data.bodies), int32(data.blocks), float32(data.scales), int16(data.samples)];
    owners.forEach((body, i) => {
      if (!this.sources.has(body)) this.sources.set(body, new Map());
      const values = samples.subarray(i * data.block, (i + 1) * data.block);
      this.sources.get(body).set(numbers[i], { scale: scales[i] / data.full_scale, values });
    });
  }

  get duration() {
    return this.end / this.rate;
  }

  // When all has arrived at a camera that the bodies emitted; of a sound that was cut, when the first of those that
  // still sound is heard no more [samples].
  endFor(camera) {
    let [first, last] = [Infinity, 0];
    for (const [body, blocks] of this.sources) {
      const emission = Math.min((Math.max(...blocks.keys()) + 1) * this.blockSize, this.frames);
      const x = this.centreOf(body, emission / this.rate);
      for (const ear of this.ears(camera)) {
        const heights = this.ground ? [x[2], 2 * this.ground.height - x[2]] : [x[2]];
        for (const z of heights) {
          const arrival = emission + Math.hypot(ear[0] - x[0], ear[1] - x[1], ear[2] - z) / this.soundSpeed * this.rate;
          last = Math.max(last, arrival);
          if (emission === this.frames) first = Math.min(first, arrival);
        }
      }
    }
    if (this.isCut && first < Infinity) return Math.floor(first);
    return Math.max(this.frames, Math.ceil(last) + TAPS);
  }

  // To be called before a piece from the time `seconds` on: the end moves with the camera until it begins to fade.
  updateEnd(seconds, camera) {
    const [position, length] = [seconds * this.rate, FADE_OUT * this.rate];
    if (position < this.end - length) this.end = Math.max(this.endFor(camera), position + length);
  }

  // The samples of a body from `begin` to `end`, over full scale; null when all are 0.
  window(blocks, begin, end) {
    let out = null;
    for (let n = Math.floor(begin / this.blockSize); n * this.blockSize < end; ++n) {
      const block = blocks.get(n);
      if (!block) continue;
      out ??= new Float32Array(end - begin);
      const first = n * this.blockSize;
      const to = Math.min(end, first + this.blockSize);
      for (let i = Math.max(begin, first); i < to; ++i) out[i - begin] = block.scale * block.values[i - first];
    }
    return out;
  }

  // Both points of the pair, left and right of the eye.
  ears({ eye, right }) {
    const half = this.spacing / 2;
    return [-half, half].map((side) => eye.map((x, k) => x + side * right[k]));
  }

  // How long the sound of a body is on its way that is heard at `ear` at a sample, from a guess on [samples].
  delayTo(ear, body, sample, mirrored, guess) {
    const { ground, rate, soundSpeed } = this;
    const height = mirrored ? Math.max(ear[2], ground.height) : ear[2];
    let delay = guess;
    for (let k = 0; k < ITERATIONS; ++k) {
      const x = this.centreOf(body, (sample - delay) / rate);
      const z = mirrored ? 2 * ground.height - Math.max(x[2], ground.height) : x[2];
      const next = Math.hypot(ear[0] - x[0], ear[1] - x[1], height - z) / soundSpeed * rate;
      const settled = Math.abs(next - delay) < SAME_DELAY;
      delay = next;
      if (settled) break;
    }
    return delay;
  }

  // Adds what comes from one body, directly or by the ground, to each of `outs`: that of one point, whose places at
  // the first sample and after the last are { from, to }.
  addWays({ body, blocks }, outs, start, speed, points, mirrored, fine = true) {
    const { rate, soundSpeed } = this;
    const count = outs[0].length;
    const ways = points.map(({ from, to }) => {
      const delays = [];
      for (let i = 0; i < count + CONTROL; i += CONTROL) {
        const share = Math.min(i, count) / count;
        const ear = from.map((x, k) => x + share * (to[k] - x));
        delays.push(this.delayTo(ear, body, start + share * count * speed, mirrored, delays.at(-1) ?? 0));
      }
      return delays;
    });
    const lowest = Math.floor(start - Math.max(...ways.flat())) - TAPS / 2;
    const highest = Math.ceil(start + count * speed - Math.min(...ways.flat())) + TAPS / 2 + 1;
    const absorbs = this.air && fine;
    const reach = absorbs ? this.air.reach : 0;
    let samples = this.window(blocks, lowest - reach, highest + reach);
    if (!samples) return;
    if (absorbs) {
      const distance = (at) => ways.reduce((sum, delays) => sum + delays.at(at), 0) / ways.length / rate * soundSpeed;
      samples = this.air.filtered(samples, distance(0), distance(-1));
    }
    const gain = mirrored ? this.ground.reflection : 1;
    ways.forEach((delays, n) => this.addDelayed(samples, start - lowest, speed, delays, gain, outs[n], fine));
  }

  // Adds samples, of which the one at `start` is heard first without delay, to `out`.
  addDelayed(samples, start, speed, delays, gain, out, fine) {
    const { rate, soundSpeed } = this;
    const count = out.length;
    const minDelay = MIN_DISTANCE / soundSpeed * rate;
    const toGain = gain * rate / soundSpeed;
    // Faster than recorded, several samples are averaged: what is above half the rate would fold back.
    const parts = Math.max(1, Math.ceil(speed));
    for (let i = 0; i < count; ++i) {
      const control = Math.floor(i / CONTROL);
      const length = Math.min(CONTROL, count - control * CONTROL);
      const delay = delays[control] + (delays[control + 1] - delays[control]) * (i - control * CONTROL) / length;
      let sum = 0;
      for (let part = 0; part < parts; ++part) {
        const position = start + (i + part / parts) * speed - delay;
        const whole = Math.floor(position);
        if (!fine) {
          sum += samples[whole];
          continue;
        }
        const row = Math.round((position - whole) * PHASES) * TAPS;
        const first = whole - TAPS / 2 + 1;
        for (let k = 0; k < TAPS; ++k) sum += WEIGHTS[row + k] * samples[first + k];
      }
      out[i] += sum / parts * toGain / Math.max(delay, minDelay);
    }
  }

  // Both channels of `count` samples from the time `seconds` on, over full scale, for a camera that moves from
  // `before` to `after` ({ eye, right }) meanwhile.
  mixRaw(seconds, count, speed, before, after) {
    const start = seconds * this.rate;
    const [from, to] = [this.ears(before), this.ears(after)];
    const points = [0, 1].map((side) => ({ from: from[side], to: to[side] }));
    const outs = points.map(() => new Float32Array(count));
    for (const [body, blocks] of this.sources) {
      if (this.muted.has(body)) continue;
      for (const mirrored of this.ground ? [false, true] : [false]) {
        this.addWays({ body, blocks }, outs, start, speed, points, mirrored);
      }
    }
    return outs;
  }

  // As mixRaw(); a camera that jumps is faded over from where it was, and what is too loud for the file is turned
  // down for a while. Fades out at the end (updateEnd()).
  mix(seconds, count, speed, before, after) {
    const moved = Math.hypot(...after.eye.map((x, k) => x - before.eye[k])) * this.rate / count;
    let channels;
    if (moved <= MAX_EAR_SPEED) {
      channels = this.mixRaw(seconds, count, speed, before, after);
    } else {
      const old = this.mixRaw(seconds, count, speed, before, before);
      channels = this.mixRaw(seconds, count, speed, after, after);
      channels.forEach((out, side) => out.forEach((x, i) => {
        const share = 0.5 - 0.5 * Math.cos(Math.PI * i / count);
        out[i] = share * x + (1 - share) * old[side][i];
      }));
    }
    let peak = 0;
    for (const out of channels) for (const x of out) peak = Math.max(peak, Math.abs(x));
    const wanted = Math.min(1, this.level + (1 - this.level) * (1 - Math.exp(-count / this.rate / RELEASE)));
    const level = peak * wanted > MAX_LEVEL ? MAX_LEVEL / peak : wanted;
    // Down within the first millisecond or so, up over the whole block.
    const length = level < this.level ? Math.min(64, count) : count;
    for (const out of channels) {
      for (let i = 0; i < count; ++i) {
        const share = Math.min(1, i / length);
        const left = (this.end - 1 - seconds * this.rate - i * speed) / (FADE_OUT * this.rate);
        const fade = left >= 1 ? 1 : left > 0 ? 0.5 - 0.5 * Math.cos(Math.PI * left) : 0;
        out[i] = Math.max(-1, Math.min(1, out[i] * (this.level + share * (level - this.level)))) * fade;
      }
    }
    this.level = level;
    return channels;
  }

  // The whole sound at the eye of a camera at rest, as of a WAV file: { rate, channels, samples }. For a picture of
  // it: travel times are whole samples.
  overview({ eye }) {
    const samples = new Float32Array(this.frames);
    const count = 8 * this.blockSize;
    for (let first = 0; first < this.frames; first += count) {
      const out = samples.subarray(first, Math.min(first + count, this.frames));
      for (const [body, blocks] of this.sources) {
        if (this.muted.has(body)) continue;
        for (const mirrored of this.ground ? [false, true] : [false]) {
          this.addWays({ body, blocks }, [out], first, 1, [{ from: eye, to: eye }], mirrored, false);
        }
      }
    }
    return { rate: this.rate, channels: 1, samples };
  }
}
