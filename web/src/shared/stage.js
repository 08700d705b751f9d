// SPDX-License-Identifier: MIT
// The stage that every page shares: renderer, camera, orbit controls, resizing, and one or two lit scenes
// side by side, seen by one camera. Models are given z up, as everywhere in thrum.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { LitScene } from './light.js';

const DEFAULT_ASPECT = 16 / 9; // the field of view of scenes refers to this aspect ratio
const MAX_FIELD_OF_VIEW = 100; // of pages that are much taller than wide [degrees]

export class Stage {
  constructor(container, scenes = 1) {
    this.container = container;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.0;
    this.renderer.autoClear = false;
    container.appendChild(this.renderer.domElement);

    this.sets = Array.from({ length: scenes }, () => new LitScene());
    this.scene = this.sets[0].scene;
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 500);
    this.fieldOfView = 35;
    this.keepsWidth = false;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.addEventListener('change', () => this.requestRedraw());
    this.dirty = true;

    new ResizeObserver(() => this.resize()).observe(container);
    this.resize();
  }

  // Call after a change: the next frame will be drawn.
  requestRedraw() {
    this.dirty = true;
  }

  // Places the camera, the light and a ground for the box from min to max; the ground is `gap` below it.
  frame(min, max, gap = 0) {
    const radius = this.look(min, max, new THREE.Vector3(0.62, -0.95, 0.55));
    const centre = this.controls.target;
    this.ground ??= this.sets[0].addGround(new THREE.Vector3(), new THREE.Vector3(0, 0, 1));
    this.ground.position.set(centre.x, centre.y, min.z - gap - radius * 0.002);
    this.ground.scale.setScalar(30 * radius);
  }

  // Looks at the box along -`from`, from the minimum distance that shows all of it. Returns its radius.
  look(min, max, from) {
    const centre = min.clone().add(max).multiplyScalar(0.5);
    const radius = Math.max(max.distanceTo(min) / 2, 1e-6);
    const back = from.clone().normalize();
    const side = Math.abs(back.z) > 0.999 ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(0, 0, 1);
    const right = side.cross(back).normalize();
    const up = back.clone().cross(right);
    const tall = Math.tan(this.camera.fov / 2 * Math.PI / 180) * 0.88;
    const wide = tall * this.camera.aspect;
    // Each corner needs a minimum distance to be inside the picture.
    let away = 0;
    for (let k = 0; k < 8; ++k) {
      const d = new THREE.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).sub(centre);
      away = Math.max(away, Math.max(Math.abs(d.dot(right)) / wide, Math.abs(d.dot(up)) / tall) + d.dot(back));
    }
    this.placeCamera(centre.clone().addScaledVector(back, away), centre, radius);
    return radius;
  }

  // From top to bottom [degrees]. With `keepsWidth` it refers to a picture of 16:9, and a narrower one shows
  // the same width.
  setFieldOfView(degrees, keepsWidth) {
    this.fieldOfView = degrees;
    this.keepsWidth = keepsWidth;
    this.resize();
  }

  placeCamera(eye, target, radius) {
    this.camera.position.copy(eye);
    this.controls.target.copy(target);
    this.camera.near = radius / 100;
    this.camera.far = radius * 100;
    this.camera.updateProjectionMatrix();
    // The shadow map covers only what is in the picture; otherwise it would be coarse.
    const away = eye.distanceTo(target);
    const seen = away * Math.tan(this.camera.fov / 2 * Math.PI / 180) * Math.max(1, this.camera.aspect);
    this.litRadius = Math.min(radius, 1.1 * seen);
    for (const set of this.sets) set.light(target, this.litRadius, away);
    this.controls.update();
    this.requestRedraw();
  }

  // The rectangles of the scenes [left, bottom, width, height] in pixels of the page: beside or above each
  // other.
  views() {
    const { clientWidth: w, clientHeight: h } = this.container;
    if (this.sets.length === 1) return [[0, 0, w, h]];
    if (w >= h) return [[0, 0, w / 2 - 1, h], [w / 2 + 1, 0, w / 2 - 1, h]];
    return [[0, h / 2 + 1, w, h / 2 - 1], [0, 0, w, h / 2 - 1]];
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.container;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height);
    const [, , w, h] = this.views()[0];
    this.camera.aspect = w / h;
    const narrow = this.keepsWidth ? Math.max(1, DEFAULT_ASPECT / this.camera.aspect) : 1;
    const half = Math.tan(this.fieldOfView / 2 * Math.PI / 180) * narrow;
    this.camera.fov = Math.min(2 * Math.atan(half) * 180 / Math.PI, Math.max(MAX_FIELD_OF_VIEW, this.fieldOfView));
    this.camera.updateProjectionMatrix();
    this.requestRedraw();
  }

  draw() {
    this.dirty = false;
    this.drawn = true;
    this.renderer.setScissorTest(this.sets.length > 1);
    this.views().forEach((view, i) => {
      this.renderer.setViewport(...view);
      this.renderer.setScissor(...view);
      this.renderer.render(this.sets[i].scene, this.camera);
    });
  }

  // Calls `prepare(seconds)` before each frame; a frame is drawn when something changed, or when it returns
  // true. `placed(seconds)` is called when the camera is where it is drawn from.
  run(prepare, placed = () => {}) {
    this.renderer.setAnimationLoop((milliseconds) => {
      const moving = prepare(milliseconds / 1000);
      this.controls.update();
      placed(milliseconds / 1000);
      if (moving || this.dirty) this.draw();
    });
  }
}
