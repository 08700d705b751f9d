// SPDX-License-Identifier: MIT
// Where the camera was: its place at the time of each picture, linear between. Whoever asks a little later than it
// happened gets an even motion, whatever the times of the pictures and of the questions.
const KEPT = 1;              // how long places are remembered [s]
const MAX_GAP = 0.25;        // after a longer pause between pictures the camera was at rest until this long ago [s]

export class CameraTrack {
  constructor() {
    this.places = [];        // { time, eye, right }, in order of time
  }

  // The camera { eye, right } at the time of a picture [s]; times increase.
  add(time, { eye, right }) {
    const { places } = this;
    const last = places.at(-1);
    if (last && time <= last.time) places.pop();
    else if (last && time - last.time > MAX_GAP) places.push({ ...last, time: time - MAX_GAP });
    places.push({ time, eye, right });
    while (places.length > 2 && places[1].time < time - KEPT) places.shift();
  }

  // The camera at a time [s]; before the first place and after the last it rests.
  at(time) {
    const { places } = this;
    let k = places.length - 1;
    while (k > 0 && places[k].time > time) --k;
    const [a, b] = [places[k], places[k + 1]];
    if (!b || time <= a.time) return { eye: a.eye, right: a.right };
    const share = (time - a.time) / (b.time - a.time);
    const between = (x, y) => x.map((value, i) => value + share * (y[i] - value));
    const right = between(a.right, b.right);
    const length = Math.hypot(...right) || 1;
    return { eye: between(a.eye, b.eye), right: right.map((x) => x / length) };
  }
}
