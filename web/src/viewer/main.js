// SPDX-License-Identifier: MIT
// The page of `thrum run`: one run, or two side by side with one camera and one clock.
import * as THREE from 'three';
import { pageData } from '../shared/data.js';
import { Stage } from '../shared/stage.js';
import { Bodies } from './bodies.js';
import { CameraPlayer } from './camera_player.js';
import { CameraTrack } from './camera_track.js';
import { CameraSound } from './camera_sound.js';
import { Clock } from './clock.js';
import { Controls } from './controls.js';
import { followLive } from './live.js';
import { Marks } from './marks.js';
import { Mixer } from './mixer.js';
import { ModeAnimation } from './modes.js';
import { Plots } from './plots.js';
import { Run } from './run.js';
import { SourceTracks } from './source_tracks.js';

const element = (id) => document.getElementById(id);

class Viewer {
  constructor(data) {
    this.stage = new Stage(element('stage'), data.runs.length);
    this.visible = { contacts: false, impulses: false, response: true, wireframe: false };
    this.followed = { show: 0, body: -1 };
    this.mode = -1;
    this.clock = new Clock(0);
    this.cameraTrack = new CameraTrack();
    this.clock.onChange = () => { this.stage.requestRedraw(); this.controls?.update(); };
    this.load(data);
    this.controls = new Controls(this);
    this.stage.run((seconds) => this.prepare(seconds), (seconds) => this.cameraTrack.add(seconds, this.ears));
  }

  // Replaces the shown runs by those of `data`; the camera and the time are kept if runs were shown before.
  load(data) {
    const before = this.panes;
    this.runs = data.runs.map((run) => new Run(run));
    this.radius = Math.max(...this.runs.map((run) => Math.hypot(...[0, 1, 2].map((k) => run.box[3 + k] - run.box[k])) / 2), 1e-6);
    this.panes = this.runs.map((run, i) => this.makePane(run, this.stage.sets[i], before?.[i]));
    this.clock.duration = Math.max(...this.runs.map((run) => run.duration));
    this.heard = this.runs.findIndex((run) => run.sound);
    const sounding = this.runs[this.heard];
    this.here = sounding?.sources ? this.cameraSound(sounding) : null;
    this.mixer = sounding ? new Mixer(sounding, this.here) : null;
    this.listensHere = Boolean(this.here) && (this.wantsHere ?? sounding.sources.at_camera);
    this.stage.requestRedraw();
    if (!before) this.lookAtAll();
    this.playMixed();
    for (const show of this.panes) show.marks.radius = this.stage.litRadius;
    this.plots = this.plots ? this.plots.replace(this.runs) : new Plots(element('plots'), this.runs, (time) => this.clock.seek(time));
    this.showWave();
    this.describe();
    this.controls?.update();
  }

  makePane(run, set, before) {
    if (before) set.scene.remove(before.group);
    const group = new THREE.Group();
    const bodies = new Bodies(run);
    const marks = new Marks(run, this.radius);
    group.add(bodies.group, marks.group);
    const centre = new THREE.Vector3(run.box[0] + run.box[3], run.box[1] + run.box[4], 0).multiplyScalar(0.5);
    const grounds = [];
    for (const plane of run.planes) {
      const normal = new THREE.Vector3(...plane.normal);
      const point = new THREE.Vector3(...plane.point);
      // The point of the plane under the middle of the scene.
      point.add(centre.clone().sub(point).projectOnPlane(normal));
      const ground = set.addGround(point, normal);
      ground.scale.setScalar(30 * this.radius);
      group.add(ground);
      grounds.push({ ground, plane });
    }
    set.scene.add(group);
    bodies.setWireframe(this.visible.wireframe);
    return { run, group, bodies, marks, grounds, modes: new ModeAnimation(run, bodies) };
  }

  // Shows everything that moves, with the camera of the scene, or from slightly above.
  lookAtAll() {
    const { box, camera, planes } = this.runs[0];
    this.follow(0, -1);
    this.stage.setFieldOfView(camera.field_of_view ?? 30, Boolean(camera.eye));
    const [min, max] = [new THREE.Vector3(...box.slice(0, 3)), new THREE.Vector3(...box.slice(3))];
    // The part of the box below the ground is ignored.
    const level = planes.find((plane) => plane.normal[2] > 0.99);
    if (level && level.point[2] < max.z) min.z = Math.max(min.z, level.point[2]);
    if (camera.eye) {
      const target = camera.target ? new THREE.Vector3(...camera.target) : min.clone().add(max).multiplyScalar(0.5);
      this.stage.placeCamera(new THREE.Vector3(...camera.eye), target, this.radius);
    } else {
      this.stage.look(min, max, new THREE.Vector3(...(camera.from ?? [0.55, -1, 0.42])));
    }
  }

  describe() {
    const [run] = this.runs;
    const moving = run.bodies.filter((body) => !body.fixed).length;
    document.title = `${run.title} · thrum`;
    element('title').textContent = run.title;
    const parts = [`${moving} moving ${moving === 1 ? 'body' : 'bodies'}`, `${this.clock.duration.toPrecision(3)} s`];
    if (!run.complete) parts.push('cut short');
    element('about').textContent = parts.join(' · ');
    element('labels').replaceChildren(...(this.runs.length < 2 ? [] : this.runs.map((r) => {
      const label = document.createElement('span');
      label.textContent = r.label;
      return label;
    })));
  }

  get frame() {
    return this.panes.map((show) => show.run.frameAt(Math.min(this.clock.time, show.run.duration)));
  }

  // Called before each frame. Returns whether it must be drawn.
  prepare(seconds) {
    if (this.stage.drawn) document.body.dataset.ready = 'yes';
    const moved = this.clock.tick(seconds);
    const vibrating = this.panes.some((show) => show.modes.vibrating);
    if (!moved && !this.stage.dirty && !vibrating) return false;
    const frames = this.frame;
    this.panes.forEach((show, i) => {
      show.bodies.show(frames[i]);
      for (const { ground, plane } of show.grounds) ground.visible = show.run.isShown(plane, frames[i]);
      show.marks.show(this.clock.time, frames[i], this.visible);
      show.modes.show(frames[i], seconds);
    });
    this.moveWithFollowed(frames);
    this.plots.show(this.clock.time);
    this.controls.showTime();
    this.placeLabels(frames);
    document.body.dataset.pictures = Number(document.body.dataset.pictures ?? 0) + 1;
    return true;
  }

  follow(show, body) {
    this.followed = { show, body };
    this.anchor = null;
    this.setMode(-1);
    this.stage.requestRedraw();
    this.controls?.update();
  }

  cameraSound(run) {
    const tracks = new SourceTracks(run.sources.tracks, run.times);
    return new CameraSound(run.sources, (body, time) => tracks.at(body, time));
  }

  // Where the listener is that the camera carries, and its right hand side.
  get ears() {
    const { position, matrixWorld } = this.stage.camera;
    return { eye: position.toArray(), right: new THREE.Vector3().setFromMatrixColumn(matrixWorld, 0).toArray() };
  }

  cameraAt(time) {
    if (this.cameraTrack.places.length === 0) return this.ears;
    return this.cameraTrack.at(time);
  }

  // The sound at the camera, or that of the file, for the listener of the scene.
  playMixed() {
    this.clock.setSound(this.listensHere ? new CameraPlayer(this.here, (time) => this.cameraAt(time)) : this.mixer?.file);
  }

  // Under the timeline: of the file, or of what is left at the camera when a body is muted.
  showWave() {
    const { here, mixer } = this;
    this.plots.setWave(this.listensHere && mixer.muted.size > 0 ? here.overview(this.ears) : mixer?.wav);
  }

  toggleListener() {
    if (!this.here) return;
    this.listensHere = this.wantsHere = !this.listensHere;
    this.playMixed();
    this.showWave();
    this.controls.update();
  }

  // Whether the followed body can be left out of the sound.
  get canMute() {
    const { show, body } = this.followed;
    return show === this.heard && Boolean(this.mixer?.canMute(body, this.listensHere));
  }

  toggleMute() {
    if (!this.canMute) return;
    this.mixer.toggle(this.followed.body);
    if (!this.listensHere) this.playMixed();
    this.showWave();
    this.controls.update();
  }

  setMode(mode) {
    const { show, body } = this.followed;
    const of = this.panes[show]?.modes;
    this.mode = of?.has(body) ? mode : -1;
    this.modeText = of ? of.choose(body, this.mode) : '';
    this.stage.requestRedraw();
  }

  // The camera moves with the followed body.
  moveWithFollowed(frames) {
    const { show, body } = this.followed;
    if (body < 0) return;
    const now = this.panes[show].bodies.position(body, frames[show], new THREE.Vector3());
    if (this.anchor) {
      const step = now.clone().sub(this.anchor);
      this.stage.camera.position.add(step);
      this.stage.controls.target.add(step);
    }
    this.anchor = now;
  }

  placeLabels(frames) {
    const views = this.stage.views();
    const height = this.stage.container.clientHeight;
    [...element('labels').children].forEach((label, i) => {
      label.style.left = `${views[i][0] + views[i][2] / 2}px`;
      label.style.top = `${height - views[i][1] - views[i][3] + 14}px`;
    });
    const { show, body } = this.followed;
    const note = element('followed');
    note.hidden = body < 0;
    if (body >= 0) {
      const [left, bottom, w, h] = views[show];
      this.stage.camera.updateMatrixWorld();
      const p = this.panes[show].bodies.position(body, frames[show], new THREE.Vector3()).project(this.stage.camera);
      note.style.left = `${Math.min(Math.max(left + (p.x + 1) / 2 * w + 18, left + 8), left + w - 150)}px`;
      note.style.top = `${Math.min(Math.max(height - bottom - h + (1 - p.y) / 2 * h - 40, 8), height - 40)}px`;
    }
  }

  // The body under a point of the page: [number of the run, number of the body].
  pick(x, y) {
    const box = this.stage.renderer.domElement.getBoundingClientRect();
    const [px, py] = [x - box.left, box.height - (y - box.top)];
    const i = this.stage.views().findIndex(([l, b, w, h]) => px >= l && px <= l + w && py >= b && py <= b + h);
    if (i < 0) return [0, -1];
    const [l, b, w, h] = this.stage.views()[i];
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * (px - l) / w - 1, 2 * (py - b) / h - 1), this.stage.camera);
    return [i, this.panes[i].bodies.pick(ray)];
  }
}

const viewer = new Viewer(pageData());
window.thrum = viewer;
followLive(viewer);
viewer.clock.play(!matchMedia('(prefers-reduced-motion: reduce)').matches && !location.hash.includes('still'));
const wanted = /t=([\d.]+)/.exec(location.hash);
if (wanted) viewer.clock.seek(Number(wanted[1]));
