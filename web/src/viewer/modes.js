// SPDX-License-Identifier: MIT
// A body that vibrates in one of its modes, shown instead of the rigid one.
import * as THREE from 'three';
import { float32, int16, uint32 } from '../shared/data.js';
import { MAX_AMPLITUDE, VibratingBody } from '../modes/body.js';

const SHOWN_HERTZ = 1.1;  // frequency of a mode on the screen

export class ModeAnimation {
  constructor(run, bodies) {
    this.run = run;
    this.bodies = bodies;
    this.models = new Map();
    for (const modes of run.modes) for (const b of modes.bodies) this.models.set(b, modes);
    this.body = -1;
    this.vibrating = null;
  }

  has(b) {
    return this.models.has(b);
  }

  get count() {
    return this.body < 0 ? 0 : this.models.get(this.body).frequencies.length;
  }

  // Shows mode `mode` of body b; -1 shows none.
  choose(b, mode) {
    if (this.vibrating) {
      this.bodies.group.remove(this.vibrating.mesh);
      this.vibrating.geometry.dispose();
      this.vibrating = null;
    }
    this.body = mode >= 0 && this.has(b) ? b : -1;
    this.bodies.hidden = this.body;
    if (this.body < 0) return '';
    const modes = this.models.get(b);
    const shapes = int16(modes.shapes);
    this.vibrating = new VibratingBody(float32(modes.vertices), uint32(modes.triangles), Float32Array.from(shapes));
    this.vibrating.select(mode);
    this.bodies.group.add(this.vibrating.mesh);
    return `mode ${mode + 1} of ${modes.frequencies.length}: ${modes.frequencies[mode].toPrecision(4)} Hz`;
  }

  show(frame, seconds) {
    if (!this.vibrating) return;
    const pose = this.run.pose(this.body, frame, this.bodies.pose);
    this.vibrating.mesh.visible = this.run.isShown(this.run.bodies[this.body], frame);
    this.vibrating.mesh.position.set(pose[0], pose[1], pose[2]);
    this.vibrating.mesh.quaternion.set(pose[3], pose[4], pose[5], pose[6]);
    this.vibrating.displace(Math.sin(2 * Math.PI * SHOWN_HERTZ * seconds) * 0.5 / (14 * MAX_AMPLITUDE));
  }
}
