// SPDX-License-Identifier: MIT
// Light, sky and ground that every page shares: a warm sun with a soft shadow, a cool sky, a ground that
// fades into it.
import * as THREE from 'three';

export const HORIZON = 0xe9edf0;
const ZENITH = 0xc9d6de;

// A sky that is brightest at the horizon, where the ground fades into it.
function sky() {
  const material = new THREE.ShaderMaterial({
    side: THREE.BackSide, depthWrite: false, depthTest: false, toneMapped: false, fog: false,
    uniforms: { low: { value: new THREE.Color(HORIZON) }, high: { value: new THREE.Color(ZENITH) } },
    vertexShader: `varying vec3 d;
      void main() { d = position; vec4 p = projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0); gl_Position = p.xyww; }`,
    fragmentShader: `uniform vec3 low; uniform vec3 high; varying vec3 d;
      void main() { gl_FragColor = vec4(mix(low, high, smoothstep(0.0, 0.9, normalize(d).z)), 1.0);
        #include <colorspace_fragment>
      }`,
  });
  const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -1;
  return mesh;
}

export class LitScene {
  constructor(shadowSize = 2048) {
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(HORIZON);
    this.scene.fog = new THREE.Fog(HORIZON, 10, 60);
    this.scene.add(sky());
    this.scene.add(new THREE.HemisphereLight(0xeef4fc, 0xcac4bc, 1.85));
    this.sun = new THREE.DirectionalLight(0xfff5e8, 2.6);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(shadowSize, shadowSize);
    this.sun.shadow.radius = 4;
    // A weak light from behind separates the dark sides from each other.
    this.fill = new THREE.DirectionalLight(0xdbe8ff, 0.6);
    this.scene.add(this.sun, this.sun.target, this.fill, this.fill.target);
  }

  addGround(point, normal, colour = 0xdce2e7) {
    const ground = new THREE.Mesh(new THREE.CircleGeometry(1, 96), new THREE.MeshStandardMaterial({ color: colour, roughness: 1 }));
    ground.receiveShadow = true;
    ground.position.copy(point);
    ground.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    this.scene.add(ground);
    return ground;
  }

  // Sun, shadow and fog for a scene of that size, seen from distance `away`.
  light(centre, radius, away) {
    this.scene.fog.near = away + 2 * radius;
    this.scene.fog.far = away + 13 * radius;
    this.sun.position.copy(centre).add(new THREE.Vector3(-0.32, -0.68, 1).multiplyScalar(3 * radius));
    this.sun.target.position.copy(centre);
    this.fill.position.copy(centre).add(new THREE.Vector3(0.8, 0.5, 0.35).multiplyScalar(3 * radius));
    this.fill.target.position.copy(centre);
    const c = this.sun.shadow.camera;
    c.left = c.bottom = -1.6 * radius;
    c.right = c.top = 1.6 * radius;
    c.near = radius / 10;
    c.far = 8 * radius;
    c.updateProjectionMatrix();
    this.sun.shadow.normalBias = radius / 300;
    this.sun.shadow.bias = -1e-4;
  }
}
