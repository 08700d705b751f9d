// SPDX-License-Identifier: MIT
// A recorded run in memory: the pose of each body at any time, and the events.
import { bytes, float32, int16, int32, int8, uint16, uint32 } from '../shared/data.js';

// Index of the last value that is not after `x`, of ascending values; 0 when all are.
export function lastNotAfter(values, x, from = 0, to = values.length - 1) {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

export class Run {
  constructor(data) {
    this.title = data.title || data.scene || 'A run';
    this.label = data.label;
    this.scene = data.scene;
    this.complete = data.complete;
    this.box = data.box;
    this.camera = data.camera;
    this.planes = data.planes;
    this.bodies = data.bodies;
    this.modes = data.modes;
    this.sound = data.sound;
    this.stems = data.stems;
    this.sources = data.sources;
    this.meshes = data.meshes.map((mesh) => ({
      positions: float32(mesh.positions), normals: int8(mesh.normals), corners: uint32(mesh.corners),
    }));
    this.times = float32(data.series.times);
    this.kinetic = float32(data.series.kinetic);
    this.potential = float32(data.series.potential);
    this.elastic = float32(data.series.elastic);
    this.total = this.kinetic.map((e, i) => e + this.potential[i] + this.elastic[i]);
    this.impulse = float32(data.series.impulse);
    this.links = data.links ?? [];
    this.readBends(data.bends ?? []);
    this.readTracks(data.tracks);
    this.readContacts(data.contacts);
    const hits = data.hits;
    this.hits = { times: float32(hits.times), positions: float32(hits.positions), normals: float32(hits.normals),
      speeds: float32(hits.speeds), sizes: float32(hits.sizes), bodies: int32(hits.bodies) };
    const r = data.responses;
    this.responses = { times: float32(r.times), positions: float32(r.positions), normals: float32(r.normals),
      speeds: float32(r.speeds), energies: float32(r.energies), bodies: int32(r.bodies), steps: uint32(r.steps),
      kinds: bytes(r.kinds) };
  }

  get duration() {
    return this.times.length > 0 ? this.times[this.times.length - 1] : 0;
  }

  readTracks(tracks) {
    this.counts = uint32(tracks.counts);
    this.boxes = float32(tracks.boxes);
    this.positions = uint16(tracks.positions);
    this.rotations = int16(tracks.rotations);
    const gaps = uint16(tracks.gaps);
    this.frames = new Uint32Array(gaps.length);
    this.starts = new Uint32Array(this.counts.length);
    let at = 0;
    for (let b = 0; b < this.counts.length; ++b) {
      this.starts[b] = at;
      let frame = 0;
      for (let k = 0; k < this.counts[b]; ++k, ++at) {
        frame += gaps[at];
        this.frames[at] = frame;
      }
    }
    this.cursors = this.starts.slice();
  }

  readContacts(contacts) {
    const counts = uint32(contacts.counts);
    const starts = new Uint32Array(counts.length + 1);
    for (let i = 0; i < counts.length; ++i) starts[i + 1] = starts[i] + counts[i];
    this.contacts = { frames: uint32(contacts.frames), max_impulse: contacts.max_impulse, decades: contacts.decades, box: contacts.box,
      starts, positions: uint16(contacts.positions), directions: int8(contacts.directions), sizes: bytes(contacts.sizes) };
  }

  // Of each mesh that bends its morph targets; of each body that does, its amplitudes in the frames in which
  // it is bent.
  readBends(bends) {
    const scaled = ({ scale, values }) => Float32Array.from(int16(values), (x) => scale * x);
    this.targets = new Map();
    this.bends = new Map();
    for (const { mesh, targets, bodies } of bends) {
      this.targets.set(mesh, targets.map(({ positions, normals }) => ({ positions: scaled(positions), normals: scaled(normals) })));
      for (const bend of bodies) this.bends.set(bend.body, { ...bend, amplitudes: float32(bend.amplitudes) });
    }
  }

  // The amplitude of each mode in which body b bends, at `frame` [m].
  bend(b, frame, out) {
    out.fill(0);
    const { targets: { length }, first, count, amplitudes } = this.bends.get(b);
    const [i, share] = [Math.floor(frame), frame - Math.floor(frame)];
    for (const [f, part] of [[i, 1 - share], [i + 1, share]]) {
      if (part === 0 || f < first || f >= first + count) continue;
      for (let k = 0; k < length; ++k) out[k] += part * amplitudes[(f - first) * length + k];
    }
    return out;
  }

  // The time as a fractional frame number.
  frameAt(time) {
    const last = this.times.length - 1;
    if (last < 1) return 0;
    const i = Math.min(lastNotAfter(this.times, time), last - 1);
    const share = (time - this.times[i]) / (this.times[i + 1] - this.times[i]);
    return i + Math.min(Math.max(share, 0), 1);
  }

  // Whether a body, a link or a plane is shown at the fractional frame number: from its first frame until it
  // is removed.
  isShown({ from, until }, frame) {
    if (from === undefined && until === undefined) return true;
    const i = Math.min(Math.floor(frame), this.times.length - 1);
    const next = Math.min(i + 1, this.times.length - 1);
    const time = this.times[i] + (frame - i) * (this.times[next] - this.times[i]);
    // Times of frames are floats.
    return !(Math.fround(from) > time) && !(Math.fround(until) <= time);
  }

  // The pose of body b at `frame`: out = [x, y, z, qx, qy, qz, qw].
  pose(b, frame, out) {
    const first = this.starts[b];
    const last = first + this.counts[b] - 1;
    if (last < first) return out.fill(0), out[6] = 1, out;
    // Usually the key of the previous frame, or the next one.
    let k = this.cursors[b];
    if (!(this.frames[k] <= frame && (k === last || frame < this.frames[k + 1]))) {
      k = k < last && this.frames[k + 1] <= frame && (k + 1 === last || frame < this.frames[k + 2])
        ? k + 1 : lastNotAfter(this.frames, frame, first, last);
      this.cursors[b] = k;
    }
    const next = Math.min(k + 1, last);
    const gap = this.frames[next] - this.frames[k];
    const share = gap > 0 ? (frame - this.frames[k]) / gap : 0;
    const [positions, rotations, boxes] = [this.positions, this.rotations, this.boxes];
    for (let i = 0; i < 3; ++i) {
      const x = positions[3 * k + i] * (1 - share) + positions[3 * next + i] * share;
      out[i] = boxes[6 * b + i] + boxes[6 * b + 3 + i] * (x / 65535);
    }
    let dot = 0;
    for (let i = 0; i < 4; ++i) dot += rotations[4 * k + i] * rotations[4 * next + i];
    const sign = dot < 0 ? -1 : 1;
    let square = 0;
    for (let i = 0; i < 4; ++i) {
      const q = rotations[4 * k + i] * (1 - share) + sign * rotations[4 * next + i] * share;
      out[3 + i] = q;
      square += q * q;
    }
    const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
    for (let i = 3; i < 7; ++i) out[i] *= scale;
    if (scale === 0) out[6] = 1;
    return out;
  }
}
