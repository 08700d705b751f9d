// SPDX-License-Identifier: MIT
// Overlays: contacts as dots, impulses as arrows, impacts as rings that spread and fade, and the response:
// where a body was struck, where it kicked others, and lines between the two.
import * as THREE from 'three';
import { mergeGeometries } from 'three/addons/utils/BufferGeometryUtils.js';
import { HORIZON } from '../shared/light.js';
import { lastNotAfter } from './run.js';

export const COLOURS = { contact: 0x2b7a9b, impulse: 0xd9822b, struck: 0xc8452f, kicked: 0x1f8a78 };
const SECONDS = { hit: 0.35, response: 0.7 };  // display time of an overlay [s]
const UP = new THREE.Vector3(0, 0, 1);
const PALE = new THREE.Color(HORIZON);

// A pool of one geometry, refilled for each frame.
class Pool {
  constructor(geometry, group) {
    this.geometry = geometry;
    this.group = group;
    this.count = 0;
    this.matrix = new THREE.Matrix4();
    this.turn = new THREE.Quaternion();
    this.size = new THREE.Vector3();
    this.grow(64);
  }

  grow(capacity) {
    const old = this.mesh;
    // Overlays are drawn through what is in front of them: they are few and small.
    this.mesh = new THREE.InstancedMesh(this.geometry,
      new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.92 }), capacity);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 2;
    this.mesh.setColorAt(0, PALE);
    if (old) {
      this.mesh.instanceMatrix.array.set(old.instanceMatrix.array);
      this.mesh.instanceColor.array.set(old.instanceColor.array);
      this.group.remove(old);
      old.dispose();
    }
    this.capacity = capacity;
    this.group.add(this.mesh);
  }

  begin() {
    this.count = 0;
  }

  add(position, direction, width, length, colour) {
    if (this.count === this.capacity) this.grow(2 * this.capacity);
    this.turn.setFromUnitVectors(UP, direction);
    this.matrix.compose(position, this.turn, this.size.set(width, width, length));
    this.mesh.setMatrixAt(this.count, this.matrix);
    this.mesh.setColorAt(this.count, colour);
    ++this.count;
  }

  end() {
    this.mesh.count = this.count;
    this.mesh.visible = this.count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor.needsUpdate = true;
  }
}

function arrowGeometry() {
  const shaft = new THREE.CylinderGeometry(0.35, 0.35, 0.72, 10).rotateX(Math.PI / 2).translate(0, 0, 0.36);
  const head = new THREE.ConeGeometry(1, 0.3, 14).rotateX(Math.PI / 2).translate(0, 0, 0.85);
  return mergeGeometries([shaft, head]);
}

export class Marks {
  constructor(run, radius) {
    this.run = run;
    this.radius = radius;
    this.group = new THREE.Group();
    this.dots = new Pool(new THREE.IcosahedronGeometry(1, 1), this.group);
    this.arrows = new Pool(arrowGeometry(), this.group);
    this.rings = new Pool(new THREE.RingGeometry(0.86, 1, 40), this.group);
    this.rings.mesh.material.side = THREE.DoubleSide;
    this.connections = new THREE.LineSegments(new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ color: COLOURS.kicked, transparent: true, opacity: 0.55, depthTest: false }));
    this.connections.frustumCulled = false;
    this.connections.renderOrder = 2;
    this.group.add(this.connections);
    this.position = new THREE.Vector3();
    this.direction = new THREE.Vector3();
    this.colour = new THREE.Color();
    // The strongest hundredth sets the scale, so that one strong impact does not hide the rest.
    this.hitScale = percentile99(run.hits.sizes);
    this.kickScale = percentile99(run.responses.speeds);
  }

  show(time, frame, visible) {
    for (const pool of [this.dots, this.arrows, this.rings]) pool.begin();
    if (visible.contacts || visible.impulses) this.addContacts(frame, visible);
    if (visible.impulses) this.addHits(time);
    const connections = [];
    if (visible.response) this.addResponses(time, connections);
    this.connections.geometry.dispose();
    this.connections.geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.Float32BufferAttribute(connections, 3));
    this.connections.visible = connections.length > 0;
    for (const pool of [this.dots, this.arrows, this.rings]) pool.end();
  }

  addContacts(frame, visible) {
    const c = this.run.contacts;
    const i = this.contactsOf(frame);
    if (i < 0) return;
    const R = this.radius;
    for (let k = c.starts[i]; k < c.starts[i + 1]; ++k) {
      for (let axis = 0; axis < 3; ++axis) {
        this.position.setComponent(axis, c.box[axis] + c.box[3 + axis] * c.positions[3 * k + axis] / 65535);
        this.direction.setComponent(axis, c.directions[3 * k + axis] / 127);
      }
      const level = c.sizes[k] / 255;
      if (visible.contacts) this.dots.add(this.position, UP, 0.011 * R, 0.011 * R, this.colour.set(COLOURS.contact));
      if (visible.impulses && this.direction.lengthSq() > 0.5) {
        // The square root of the impulse, so that weak ones are visible beside strong ones.
        const length = 0.42 * R * 10 ** (0.5 * c.decades * (level - 1));
        this.arrows.add(this.position, this.direction.normalize(), Math.min(0.012 * R, 0.004 * R + 0.06 * length), length,
          this.colour.set(COLOURS.impulse));
      }
    }
  }

  // The list of contacts of this frame: the last one before it.
  contactsOf(frame) {
    const { frames } = this.run.contacts;
    return frames.length === 0 || frames[0] > frame ? -1 : lastNotAfter(frames, frame);
  }

  contactsAt(frame) {
    const i = this.contactsOf(frame);
    return i < 0 ? 0 : this.run.contacts.starts[i + 1] - this.run.contacts.starts[i];
  }

  // The last step with a response that can still be seen.
  lastResponse(time) {
    const r = this.run.responses;
    if (r.times.length === 0 || r.times[0] > time) return null;
    const last = lastNotAfter(r.times, time);
    if (time - r.times[last] > SECONDS.response) return null;
    const found = { struck: 0, kicked: 0, speed: 0 };
    for (let k = last; k >= 0 && r.steps[k] === r.steps[last]; --k) {
      found[r.kinds[k] === 0 ? 'struck' : 'kicked'] += 1;
      if (r.kinds[k] === 1) found.speed = Math.max(found.speed, r.speeds[k]);
    }
    return found;
  }

  addHits(time) {
    this.visitRecent(this.run.hits, time, SECONDS.hit, (k, age) => {
      const strength = Math.min(Math.sqrt(this.run.hits.sizes[k] / this.hitScale), 1.3);
      this.colour.set(COLOURS.impulse).lerp(PALE, age * age);
      const size = this.radius * (0.015 + 0.09 * strength) * (0.35 + 0.65 * Math.sqrt(age));
      this.rings.add(this.position, this.direction, size, size, this.colour);
    });
  }

  addResponses(time, connections) {
    const r = this.run.responses;
    const struck = new Map();
    const R = this.radius;
    this.visitRecent(r, time, SECONDS.response, (k, age) => {
      const strength = Math.min(Math.sqrt(r.speeds[k] / this.kickScale), 1.3);
      if (r.kinds[k] === 0) {
        struck.set(`${r.steps[k]} ${r.bodies[2 * k]}`, this.position.clone());
        this.colour.set(COLOURS.struck).lerp(PALE, age * age);
        for (const delay of [0, 0.25]) {
          const size = R * (0.03 + 0.16 * Math.max(age - delay, 0));
          this.rings.add(this.position, this.direction, size, size, this.colour);
        }
        this.dots.add(this.position, UP, 0.016 * R, 0.016 * R, this.colour);
        return;
      }
      this.colour.set(COLOURS.kicked).lerp(PALE, age * age * age);
      this.arrows.add(this.position, this.direction, 0.016 * R, R * (0.03 + 0.2 * strength) * (1 - 0.4 * age), this.colour);
      const from = struck.get(`${r.steps[k]} ${r.bodies[2 * k]}`);
      if (from && age < 0.5) connections.push(...from.toArray(), ...this.position.toArray());
    });
  }

  // Calls visit(k, age) for each event in the last `seconds`; age goes from 0 to 1.
  visitRecent(list, time, seconds, visit) {
    const { times, positions, normals } = list;
    if (times.length === 0 || times[0] > time) return;
    const last = lastNotAfter(times, time);
    let first = last;
    while (first > 0 && time - times[first - 1] < seconds) --first;
    for (let k = first; k <= last; ++k) {
      const age = (time - times[k]) / seconds;
      if (age >= 1) continue;
      this.position.fromArray(positions, 3 * k);
      this.direction.fromArray(normals, 3 * k);
      if (this.direction.lengthSq() < 0.5) this.direction.copy(UP);
      visit(k, age);
    }
  }
}

function percentile99(values) {
  if (values.length === 0) return 1;
  const sorted = Float32Array.from(values).sort();
  return Math.max(sorted[Math.floor(0.99 * (sorted.length - 1))], 1e-12);
}
