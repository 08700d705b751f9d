// SPDX-License-Identifier: MIT
// What the air absorbs on the way, as a short symmetric filter that depends on the distance (thrum/sound/air_filter.h).
// The page has its taps at some distances; between them they are linear.
import { float32 } from '../shared/data.js';

const STEP = 64;             // samples with the taps of one distance

export class Air {
  // `data` as of the page: ascending `distances` [m], from 0 on; `taps` of each from the middle outwards; and for each
  // how many of them there are, `used`, the rest being 0.
  constructor({ distances, taps, used }) {
    this.distances = distances;
    this.taps = float32(taps);
    this.used = used;
    this.length = this.taps.length / distances.length;
    this.now = new Float32Array(this.length);
  }

  // How many samples before and after the one that is heard count, at most.
  get reach() {
    return this.length - 1;
  }

  // Sets `now` to the taps of a distance; returns the number of the last one.
  setTaps(distance) {
    const { distances, taps, used, length, now } = this;
    let k = 0;
    while (k + 2 < distances.length && distances[k + 1] <= distance) ++k;
    const share = Math.min(1, Math.max(0, (distance - distances[k]) / (distances[k + 1] - distances[k])));
    const last = Math.max(used[k], used[k + 1]);
    for (let j = 0; j <= last; ++j) now[j] = (1 - share) * taps[k * length + j] + share * taps[(k + 1) * length + j];
    return last;
  }

  // The samples that are left of `samples`, without `reach` at each end, after a way whose length runs from `from` to
  // `to` [m].
  filtered(samples, from, to) {
    const { reach, now } = this;
    const out = new Float32Array(samples.length - 2 * reach);
    for (let begin = 0; begin < out.length; begin += STEP) {
      const end = Math.min(begin + STEP, out.length);
      const last = this.setTaps(from + (to - from) * (begin + end) / 2 / out.length);
      for (let i = begin; i < end; ++i) {
        const at = i + reach;
        let sum = now[0] * samples[at];
        for (let j = 1; j <= last; ++j) sum += now[j] * (samples[at - j] + samples[at + j]);
        out[i] = sum;
      }
    }
    return out;
  }
}
