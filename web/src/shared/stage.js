// SPDX-License-Identifier: MIT
// The stage that every page shares: renderer, camera, light, ground with a soft shadow, orbit controls, resizing.
// Models are given z up, as everywhere in thrum.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

export class Stage {
  constructor(container) {
    this.container = container;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    container.appendChild(this.renderer.domElement);

    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(0xe9edf0);
    this.scene.fog = new THREE.Fog(0xe9edf0, 10, 60);
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 500);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;

    this.scene.add(new THREE.HemisphereLight(0xffffff, 0xb8b2a6, 1.3));
    this.sun = new THREE.DirectionalLight(0xfff4e0, 2.4);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 6;
    this.scene.add(this.sun, this.sun.target);

    this.ground = new THREE.Mesh(
      new THREE.CircleGeometry(1, 96),
      new THREE.MeshStandardMaterial({ color: 0xdfe3e6, roughness: 1 }));
    this.ground.receiveShadow = true;
    this.scene.add(this.ground);

    new ResizeObserver(() => this.resize()).observe(container);
    this.resize();
  }

  // Puts the camera, the light and the ground where the box from min to max is well seen; the ground is `gap` below it.
  frame(min, max, gap = 0) {
    const centre = min.clone().add(max).multiplyScalar(0.5);
    const radius = Math.max(max.distanceTo(min) / 2, 1e-6);
    this.controls.target.copy(centre);
    // Fill the narrower side of the window.
    const half = (this.camera.fov / 2) * Math.PI / 180;
    const narrow = Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
    const away = radius / Math.sin(narrow) * 1.02;
    this.camera.position.copy(centre).add(new THREE.Vector3(0.62, -0.95, 0.55).normalize().multiplyScalar(away));
    this.camera.near = radius / 100;
    this.camera.far = radius * 100;
    this.camera.updateProjectionMatrix();
    this.scene.fog.near = away + 3 * radius;
    this.scene.fog.far = away + 14 * radius;

    this.sun.position.copy(centre).add(new THREE.Vector3(0.5, -0.35, 1).multiplyScalar(3 * radius));
    this.sun.target.position.copy(centre);
    const c = this.sun.shadow.camera;
    c.left = c.bottom = -1.6 * radius;
    c.right = c.top = 1.6 * radius;
    c.near = radius / 10;
    c.far = 8 * radius;
    c.updateProjectionMatrix();
    this.sun.shadow.normalBias = radius / 200;
    this.ground.position.set(centre.x, centre.y, min.z - gap - radius * 0.002);
    this.ground.scale.setScalar(30 * radius);
    this.controls.update();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.container;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  // Calls `draw(seconds)` before each frame.
  run(draw) {
    this.renderer.setAnimationLoop((milliseconds) => {
      draw(milliseconds / 1000);
      this.controls.update();
      this.renderer.render(this.scene, this.camera);
    });
  }
}
