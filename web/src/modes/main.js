// SPDX-License-Identifier: MIT
// The page of `thrum modes show`: a list of modes, the selected one in slow motion, and a strike at each
// click.
import * as THREE from 'three';
import { float32, pageData, uint32 } from '../shared/data.js';
import { Stage } from '../shared/stage.js';
import { MAX_AMPLITUDE, VibratingBody } from './body.js';
import { play } from './strike.js';

const SHOWN_HERTZ = 0.8;  // frequency of a mode on the screen
const data = pageData();
const omegas = data.frequencies.map((f) => 2 * Math.PI * f);
const element = (id) => document.getElementById(id);

const stage = new Stage(element('stage'));
const body = new VibratingBody(float32(data.vertices), uint32(data.triangles), float32(data.shapes));
stage.scene.add(body.mesh);
// The ground is below the largest amplitude.
stage.frame(body.min, body.max, 2 * MAX_AMPLITUDE * body.max.distanceTo(body.min));

let playing = true;
let phase = Math.PI / 2;
let last = 0;
let amplitude = 1;

function choose(mode) {
  const count = data.frequencies.length;
  body.select((mode + count) % count);
  for (const row of element('modes').rows) row.classList.toggle('chosen', Number(row.dataset.mode) === body.mode);
  element('modes').rows[body.mode].scrollIntoView({ block: 'nearest' });
  const hertz = data.frequencies[body.mode];
  element('caption').textContent =
    `Mode ${body.mode + 1}: ${hertz.toPrecision(5)} Hz, shown ${Math.round(hertz / SHOWN_HERTZ)} times slower`;
  phase = Math.PI / 2;
}

function setPlaying(on) {
  playing = on;
  element('play').textContent = on ? 'Pause' : 'Play';
  element('play').setAttribute('aria-pressed', String(on));
}

function fillTable() {
  data.frequencies.forEach((hertz, m) => {
    const row = element('modes').insertRow();
    row.dataset.mode = m;
    row.tabIndex = 0;
    const ratio = data.decays[m] / omegas[m];
    const t60 = data.decays[m] > 0 ? Math.log(1000) / data.decays[m] : Infinity;
    for (const text of [m + 1, hertz.toPrecision(4), `${(100 * ratio).toPrecision(2)} %`,
      Number.isFinite(t60) ? `${t60.toPrecision(2)} s` : '∞']) {
      row.insertCell().textContent = text;
    }
    row.addEventListener('click', () => choose(m));
    row.addEventListener('keydown', (event) => { if (event.key === 'Enter') choose(m); });
  });
}

// A click that is not a drag strikes the body there, along the surface normal.
function listenForStrikes() {
  const canvas = stage.renderer.domElement;
  const ray = new THREE.Raycaster();
  let down = null;
  canvas.addEventListener('pointerdown', (event) => { down = [event.clientX, event.clientY]; });
  canvas.addEventListener('pointerup', (event) => {
    if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 5) return;
    const box = canvas.getBoundingClientRect();
    ray.setFromCamera(new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1,
      1 - 2 * (event.clientY - box.top) / box.height), stage.camera);
    body.geometry.computeBoundingSphere();
    const hit = ray.intersectObject(body.mesh)[0];
    if (hit) strike(hit);
  });
}

function strike(hit) {
  const face = hit.faceIndex;
  const corner = (c) => new THREE.Vector3().fromBufferAttribute(body.geometry.getAttribute('position'), 3 * face + c);
  const weights = new THREE.Vector3();
  THREE.Triangle.getBarycoord(hit.point, corner(0), corner(1), corner(2), weights);
  const row = body.excitation(face, weights.toArray(), hit.face.normal);
  play(Array.from(row, (f, m) => f * data.loudness[m]), omegas, data.decays);
  element('caption').textContent = 'Struck here: the loudness of each mode follows its displacement at this point.';
  document.body.dataset.strikes = Number(document.body.dataset.strikes ?? 0) + 1;
}

document.title = `${data.name || 'Body'}: ${data.frequencies.length} modes`;
element('title').textContent = data.name || 'Modes';
element('about').textContent = data.about;
element('warnings').textContent = data.warnings.join(' ');
fillTable();
listenForStrikes();
element('play').addEventListener('click', () => setPlaying(!playing));
element('amplitude').addEventListener('input', (event) => { amplitude = Number(event.target.value); });
window.addEventListener('keydown', (event) => {
  if (event.target.tagName === 'INPUT') return;
  if (event.key === 'ArrowDown') choose(body.mode + 1);
  else if (event.key === 'ArrowUp') choose(body.mode - 1);
  else if (event.key === ' ') setPlaying(!playing);
  else return;
  event.preventDefault();
});
// #4 in the address opens the page on mode 4; #4,still shows it fixed at full amplitude.
const [wanted, still] = location.hash.slice(1).split(',');
choose(Number(wanted) > 0 ? Number(wanted) - 1 : 0);
if (still) setPlaying(false);

stage.run((seconds) => {
  if (playing) phase += 2 * Math.PI * SHOWN_HERTZ * Math.min(seconds - last, 0.1);
  last = seconds;
  body.displace(amplitude * Math.sin(phase));
  return true;
});
document.body.dataset.ready = 'yes';
