// SPDX-License-Identifier: MIT
// A GLB file: no error and no warning of the Khronos validator. With the name of a body, the file is that of
// a run, and three.js finds names, materials and motion in it; with the name of another body, that one bends.
// usage: node glb_test.mjs FILE.glb NODE_MODULES [BODY [BENT]]
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [file, modules, body, bentBody] = process.argv.slice(2);
const bytes = new Uint8Array(await readFile(file));

const validator = createRequire(import.meta.url)(path.join(modules, 'gltf-validator'));
const report = await validator.validateBytes(bytes, { maxIssues: 20 });
assert.deepEqual([report.issues.numErrors, report.issues.numWarnings], [0, 0], JSON.stringify(report.issues.messages, null, 1));

async function checkMotion() {
  const load = (name) => import(pathToFileURL(path.join(modules, 'three', name)));
  const THREE = await load('build/three.module.js');
  const { GLTFLoader } = await load('examples/jsm/loaders/GLTFLoader.js');
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer, '');
  const found = gltf.scene.getObjectByName(THREE.PropertyBinding.sanitizeNodeName(body));
  assert.ok(found?.isMesh, `a mesh named ${body}`);
  assert.ok(found.material.isMeshStandardMaterial);
  assert.equal(gltf.animations.length, 1);
  const [clip] = gltf.animations;
  const at = (time) => {
    const mixer = new THREE.AnimationMixer(gltf.scene);
    mixer.clipAction(clip).play();
    mixer.setTime(time);
    gltf.scene.updateMatrixWorld(true);
    return found.getWorldPosition(new THREE.Vector3());
  };
  const [first, later] = [at(0), at(0.5 * clip.duration)];
  assert.ok(later.y < first.y, 'it falls, and y is up');
  if (bentBody) {
    const bent = gltf.scene.getObjectByName(THREE.PropertyBinding.sanitizeNodeName(bentBody));
    const size = () => {
      bent.geometry.computeBoundingBox();
      const box = new THREE.Box3();
      const p = new THREE.Vector3();
      for (let v = 0; v < bent.geometry.attributes.position.count; ++v) box.expandByPoint(bent.getVertexPosition(v, p));
      return box.getSize(p).z;
    };
    at(0);
    const straight = size();
    let most = 0;
    for (let i = 1; i <= 40; ++i) {
      at(clip.duration * i / 40);
      most = Math.max(most, size());
    }
    assert.ok(most > straight + 0.01, `it bends: ${straight} m thick, then ${most} m`);
  }
  return `, ${clip.tracks.length} tracks, ${clip.duration} s`;
}

const motion = body ? await checkMotion() : '';
console.log(`1 passed, 0 failed: ${report.info.totalTriangleCount} triangles${motion}`);
