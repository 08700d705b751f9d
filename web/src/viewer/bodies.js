// SPDX-License-Identifier: MIT
// The bodies of a run: one instanced mesh for each shape, so that 500 bodies need only a few draw calls, and a
// mesh with morph targets for each body that bends.
import * as THREE from 'three';

function geometryOf(mesh) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(mesh.positions, 3));
  geometry.setAttribute('normal', new THREE.BufferAttribute(mesh.normals, 3, true));
  geometry.setIndex(new THREE.BufferAttribute(mesh.corners, 1));
  return geometry;
}

// With a morph target for each of these modes.
function bendingGeometryOf(mesh, targets) {
  const geometry = geometryOf(mesh);
  geometry.morphTargetsRelative = true;
  geometry.morphAttributes.position = targets.map((t) => new THREE.BufferAttribute(t.positions, 3));
  geometry.morphAttributes.normal = targets.map((t) => new THREE.BufferAttribute(t.normals, 3));
  return geometry;
}

export class Bodies {
  constructor(run) {
    this.run = run;
    this.group = new THREE.Group();
    this.material = new THREE.MeshStandardMaterial({ roughness: 0.52, metalness: 0 });
    this.slots = run.bodies.map(() => null);
    this.pose = new Float64Array(7);
    this.hidden = -1;
    this.meshes = [];
    run.meshes.forEach((mesh, number) => {
      const owners = run.bodies.flatMap((body, b) => (body.mesh === number && !run.bends.has(b) ? [b] : []));
      if (mesh.corners.length === 0 || owners.length === 0) return;
      const instanced = new THREE.InstancedMesh(geometryOf(mesh), this.material, owners.length);
      instanced.castShadow = instanced.receiveShadow = true;
      instanced.frustumCulled = false;
      instanced.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      owners.forEach((b, slot) => {
        this.slots[b] = { instanced, slot };
        instanced.setColorAt(slot, new THREE.Color().setRGB(...run.bodies[b].colour, THREE.SRGBColorSpace));
      });
      instanced.userData.owners = owners;
      this.meshes.push(instanced);
      this.group.add(instanced);
    });
    this.addBending();
    this.links = this.makeLinks();
  }

  // A body that bends has a mesh of its own; those that bend in the same modes share their geometry.
  addBending() {
    const { run } = this;
    const geometries = new Map();
    for (const [b, { targets }] of run.bends) {
      const { mesh: number, colour } = run.bodies[b];
      if (run.meshes[number].corners.length === 0) continue;
      const key = [number, ...targets].join(' ');
      if (!geometries.has(key)) {
        const all = run.targets.get(number);
        geometries.set(key, bendingGeometryOf(run.meshes[number], targets.map((target) => all[target])));
      }
      const material = this.material.clone();
      material.color.setRGB(...colour, THREE.SRGBColorSpace);
      const bent = new THREE.Mesh(geometries.get(key), material);
      bent.castShadow = bent.receiveShadow = true;
      bent.frustumCulled = false;
      bent.matrixAutoUpdate = false;
      bent.userData.owners = [b];
      this.slots[b] = { bent };
      this.meshes.push(bent);
      this.group.add(bent);
    }
  }

  // Strings and springs as thin rods.
  makeLinks() {
    if (this.run.links.length === 0) return null;
    const rods = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2),
      new THREE.MeshStandardMaterial({ color: 0x59646c, roughness: 0.6 }), this.run.links.length);
    rods.castShadow = true;
    rods.frustumCulled = false;
    this.group.add(rods);
    return rods;
  }

  // Moves every body to its pose at `frame`.
  show(frame) {
    const { pose, run } = this;
    for (let b = 0; b < this.slots.length; ++b) {
      const place = this.slots[b];
      if (!place) continue;
      run.pose(b, frame, pose);
      const shown = b !== this.hidden && run.isShown(run.bodies[b], frame);
      if (place.bent) {
        place.bent.visible = shown;
        writeMatrix(place.bent.matrix.elements, 0, pose, 1);
        place.bent.matrixWorldNeedsUpdate = true;
        run.bend(b, frame, place.bent.morphTargetInfluences);
        continue;
      }
      writeMatrix(place.instanced.instanceMatrix.array, 16 * place.slot, pose, shown ? 1 : 0);
    }
    for (const mesh of this.meshes) {
      if (!mesh.isInstancedMesh) continue;
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
    if (this.links) this.showLinks(frame);
  }

  showLinks(frame) {
    const [a, b] = [new THREE.Vector3(), new THREE.Vector3()];
    const end = (body, point, out) => {
      out.fromArray(point);
      if (body < 0) return out;
      this.run.pose(body, frame, this.pose);
      return out.applyQuaternion(new THREE.Quaternion(...this.pose.slice(3))).add(new THREE.Vector3(...this.pose.slice(0, 3)));
    };
    this.run.links.forEach((link, i) => {
      end(link.a, link.pointA, a);
      end(link.b, link.pointB, b);
      const along = b.clone().sub(a);
      const length = along.length();
      const q = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), along.normalize());
      this.links.setMatrixAt(i, new THREE.Matrix4().compose(a.clone().add(b).multiplyScalar(0.5), q,
        this.run.isShown(link, frame) ? new THREE.Vector3(link.thickness, link.thickness, length) : new THREE.Vector3()));
    });
    this.links.instanceMatrix.needsUpdate = true;
  }

  position(b, frame, out) {
    this.run.pose(b, frame, this.pose);
    return out.set(this.pose[0], this.pose[1], this.pose[2]);
  }

  // The body under a ray, or -1.
  pick(ray) {
    const hit = ray.intersectObjects(this.meshes.filter((mesh) => mesh.visible), false)[0];
    return hit ? hit.object.userData.owners[hit.instanceId ?? 0] : -1;
  }

  setWireframe(on) {
    this.material.wireframe = on;
    for (const mesh of this.meshes) mesh.material.wireframe = on;
  }
}

// Column-major: rotation times scale, then the position.
export function writeMatrix(m, at, [px, py, pz, x, y, z, w], scale) {
  m[at] = scale * (1 - 2 * (y * y + z * z));
  m[at + 1] = scale * 2 * (x * y + z * w);
  m[at + 2] = scale * 2 * (x * z - y * w);
  m[at + 3] = 0;
  m[at + 4] = scale * 2 * (x * y - z * w);
  m[at + 5] = scale * (1 - 2 * (x * x + z * z));
  m[at + 6] = scale * 2 * (y * z + x * w);
  m[at + 7] = 0;
  m[at + 8] = scale * 2 * (x * z + y * w);
  m[at + 9] = scale * 2 * (y * z - x * w);
  m[at + 10] = scale * (1 - 2 * (x * x + y * y));
  m[at + 11] = 0;
  m[at + 12] = px;
  m[at + 13] = py;
  m[at + 14] = pz;
  m[at + 15] = 1;
}
