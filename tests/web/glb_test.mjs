// SPDX-License-Identifier: MIT
// A GLB file: no error and no warning of the Khronos validator. With the name of a body, the file is that of
// a run, and three.js finds names, materials and motion in it. usage: node glb_test.mjs FILE.glb NODE_MODULES
// [BODY]
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [file, modules, body] = process.argv.slice(2);
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
  return `, ${clip.tracks.length} tracks, ${clip.duration} s`;
}

const motion = body ? await checkMotion() : '';
console.log(`1 passed, 0 failed: ${report.info.totalTriangleCount} triangles${motion}`);
