// SPDX-License-Identifier: MIT
// Where the sound of each body comes from at any time. Pictures show bodies at keys and linear between, within what
// the eye sees; for sound that is too coarse: half a millimetre is a tenth of a radian at 10 kHz, and each key a jump
// of the Doppler shift. So the places of what sounds are those of all recorded frames, and cubic between, as in
// thrum/sound/pose_track.cpp.
import { float32, uint32 } from '../shared/data.js';
import { lastNotAfter } from './run.js';

export class SourceTracks {
  // `data` as of the page: of each body the number of its places, their frames and they; `times` of all frames.
  constructor({ counts, frames, positions }, times) {
    this.counts = uint32(counts);
    this.times = Float64Array.from(uint32(frames), (frame) => times[frame]);
    this.positions = float32(positions);
    this.starts = new Uint32Array(this.counts.length);
    for (let b = 1; b < this.counts.length; ++b) this.starts[b] = this.starts[b - 1] + this.counts[b - 1];
    this.cursors = this.starts.slice();
  }

  // The place of body b at a time [s]; before its first and after its last frame it rests.
  at(b, time) {
    const { times, positions } = this;
    const first = this.starts[b];
    const last = first + this.counts[b] - 1;
    const place = (k) => [positions[3 * k], positions[3 * k + 1], positions[3 * k + 2]];
    if (last <= first || !(time > times[first])) return place(first);
    if (time >= times[last]) return place(last);
    let k = this.cursors[b];
    if (!(times[k] <= time && time < times[k + 1])) this.cursors[b] = k = lastNotAfter(times, time, first, last - 1);
    const h = times[k + 1] - times[k];
    const before = k > first ? times[k] - times[k - 1] : 0;
    const after = k + 1 < last ? times[k + 2] - times[k + 1] : 0;
    const u = (time - times[k]) / h;
    const v = 1 - u;
    const out = [0, 0, 0];
    for (let i = 0; i < 3; ++i) {
      const x = (n) => positions[3 * n + i];
      const chord = (x(k + 1) - x(k)) / h;
      // Of the parabola through a place and its neighbours; at an end, of the chord.
      const slope0 = before ? ((x(k) - x(k - 1)) / before * h + chord * before) / (before + h) : chord;
      const slope1 = after ? (chord * after + (x(k + 2) - x(k + 1)) / after * h) / (h + after) : chord;
      out[i] = v * v * (1 + 2 * u) * x(k) + u * u * (3 - 2 * u) * x(k + 1) + h * u * v * (v * slope0 - u * slope1);
    }
    return out;
  }
}
