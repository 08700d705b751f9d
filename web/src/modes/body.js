// SPDX-License-Identifier: MIT
// A body that shows one mode: displaced by its shape, coloured by the displacement along each axis (x y z as
// r g b).
import * as THREE from 'three';
import { toCreasedNormals } from 'three/addons/utils/BufferGeometryUtils.js';

const CREASE = 35 * Math.PI / 180;
// A part that does not move is not quite black, so that its shape is visible.
const MIN_BRIGHTNESS = 0.06;
// Full amplitude, as a fraction of the body's size, independent of the mass normalisation.
export const MAX_AMPLITUDE = 1 / 14;

export class VibratingBody {
  constructor(vertices, triangles, shapes) {
    this.vertices = vertices;
    this.triangles = triangles;
    this.shapes = shapes;
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute('position', new THREE.BufferAttribute(vertices, 3));
    indexed.setIndex(new THREE.BufferAttribute(triangles, 1));
    // Corner k of the drawn geometry is vertex triangles[k]: sharp edges need a normal per side.
    this.geometry = toCreasedNormals(indexed, CREASE);
    this.geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(3 * triangles.length), 3));
    this.geometry.getAttribute('position').setUsage(THREE.DynamicDrawUsage);
    this.mesh = new THREE.Mesh(this.geometry,
      new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.55, metalness: 0 }));
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.min = new THREE.Vector3(Infinity, Infinity, Infinity);
    this.max = this.min.clone().negate();
    const p = new THREE.Vector3();
    for (let v = 0; v < vertices.length; v += 3) {
      p.fromArray(vertices, v);
      this.min.min(p);
      this.max.max(p);
    }
    this.select(0);
  }

  get vertexCount() {
    return this.vertices.length / 3;
  }

  shape(mode) {
    return this.shapes.subarray(mode * this.vertices.length, (mode + 1) * this.vertices.length);
  }

  select(mode) {
    this.mode = mode;
    const shape = this.shape(mode);
    let maxNorm = 0;
    for (let i = 0; i < shape.length; i += 3) {
      maxNorm = Math.max(maxNorm, Math.hypot(shape[i], shape[i + 1], shape[i + 2]));
    }
    this.amplitude = maxNorm > 0 ? MAX_AMPLITUDE * this.max.distanceTo(this.min) / maxNorm : 0;
    const colour = this.geometry.getAttribute('color');
    for (let k = 0; k < this.triangles.length; ++k) {
      for (let axis = 0; axis < 3; ++axis) {
        const part = maxNorm > 0 ? Math.abs(shape[3 * this.triangles[k] + axis]) / maxNorm : 0;
        colour.array[3 * k + axis] = MIN_BRIGHTNESS + (1 - MIN_BRIGHTNESS) * part;
      }
    }
    colour.needsUpdate = true;
  }

  // `phase` in [-1, 1] times the full amplitude.
  displace(phase) {
    const shape = this.shape(this.mode);
    const position = this.geometry.getAttribute('position');
    for (let k = 0; k < this.triangles.length; ++k) {
      const v = 3 * this.triangles[k];
      for (let axis = 0; axis < 3; ++axis) {
        position.array[3 * k + axis] = this.vertices[v + axis] + phase * this.amplitude * shape[v + axis];
      }
    }
    position.needsUpdate = true;
  }

  // The gain of each mode for an impulse along `normal` at a face with barycentric `weights`.
  excitation(face, weights, normal) {
    const modes = this.shapes.length / this.vertices.length;
    const row = new Float64Array(modes);
    for (let m = 0; m < modes; ++m) {
      const shape = this.shape(m);
      for (let c = 0; c < 3; ++c) {
        const v = 3 * this.triangles[3 * face + c];
        row[m] += weights[c] * (normal.x * shape[v] + normal.y * shape[v + 1] + normal.z * shape[v + 2]);
      }
    }
    return row;
  }
}
