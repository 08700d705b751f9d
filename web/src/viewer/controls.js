// SPDX-License-Identifier: MIT
// Buttons, keys and touches.
import { SPEEDS } from './clock.js';

const element = (id) => document.getElementById(id);
const SHOWN = ['contacts', 'impulses', 'response', 'wireframe'];
const CLICK_TOLERANCE = 6;  // a press that moves less is a click [pixel]

export class Controls {
  constructor(viewer) {
    this.viewer = viewer;
    for (const speed of SPEEDS) element('speed').add(new Option(`${speed} ×`, speed, speed === 1, speed === 1));
    const { clock } = viewer;
    element('play').addEventListener('click', () => clock.play(!clock.playing));
    element('speed').addEventListener('change', (event) => clock.setSpeed(Number(event.target.value)));
    element('scrub').addEventListener('input', (event) => clock.seek(Number(event.target.value) * clock.duration));
    for (const what of SHOWN) element(what).addEventListener('click', () => this.toggle(what));
    element('modes').addEventListener('click', () => this.nextMode());
    element('resetView').addEventListener('click', () => viewer.lookAtAll());
    element('soundToggle').addEventListener('click', () => this.toggleSound());
    element('listenHere').addEventListener('click', () => viewer.toggleListener());
    element('muteBody').addEventListener('click', () => viewer.toggleMute());
    element('keys').addEventListener('click', () => this.toggleHelp());
    window.addEventListener('keydown', (event) => this.key(event));
    this.listenForClicks();
    this.update();
  }

  toggle(what) {
    const { viewer } = this;
    viewer.visible[what] = !viewer.visible[what];
    for (const show of viewer.panes) show.bodies.setWireframe(viewer.visible.wireframe);
    viewer.stage.requestRedraw();
    this.update();
  }

  toggleSound() {
    const { audio } = this.viewer.clock;
    if (audio) audio.muted = !audio.muted;
    this.update();
  }

  toggleHelp() {
    element('help').hidden = !element('help').hidden;
    element('keys').setAttribute('aria-pressed', String(!element('help').hidden));
  }

  nextMode() {
    const { viewer } = this;
    const { show } = viewer.followed;
    const modes = viewer.panes[show].modes;
    // Without a followed body, the first one that has modes.
    if (!modes.has(viewer.followed.body) && modes.models.size > 0) viewer.follow(show, [...modes.models.keys()][0]);
    const count = modes.models.get(viewer.followed.body)?.frequencies.length ?? 0;
    viewer.setMode(viewer.mode + 1 < count ? viewer.mode + 1 : -1);
    this.update();
  }

  nextBody() {
    const { bodies } = this.viewer.runs[0];
    const from = this.viewer.followed.body;
    for (let i = 1; i <= bodies.length; ++i) {
      const b = (Math.max(from, -1) + i + bodies.length) % bodies.length;
      if (!bodies[b].fixed) return this.viewer.follow(0, b);
    }
    return undefined;
  }

  changeSpeed(step) {
    const { clock } = this.viewer;
    const now = SPEEDS.indexOf(clock.speed);
    clock.setSpeed(SPEEDS[Math.min(Math.max(now + step, 0), SPEEDS.length - 1)]);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'SELECT') return;
    const { clock, runs } = this.viewer;
    const frame = runs[0].times.length > 1 ? runs[0].duration / (runs[0].times.length - 1) : 0.01;
    const step = event.shiftKey ? 1 : frame;
    const actions = {
      ' ': () => clock.play(!clock.playing),
      ArrowLeft: () => { clock.play(false); clock.seek(clock.time - step); },
      ArrowRight: () => { clock.play(false); clock.seek(clock.time + step); },
      Home: () => clock.seek(0),
      End: () => clock.seek(clock.duration),
      '-': () => this.changeSpeed(-1),
      '+': () => this.changeSpeed(1),
      '=': () => this.changeSpeed(1),
      c: () => this.toggle('contacts'),
      i: () => this.toggle('impulses'),
      r: () => this.toggle('response'),
      w: () => this.toggle('wireframe'),
      m: () => this.nextMode(),
      s: () => this.viewer.toggleMute(),
      l: () => this.viewer.toggleListener(),
      f: () => this.nextBody(),
      Escape: () => this.viewer.follow(0, -1),
      0: () => this.viewer.lookAtAll(),
      '?': () => this.toggleHelp(),
    };
    const action = actions[event.key];
    if (!action) return;
    // The space bar would also press a button that has the focus.
    if (event.target.tagName === 'BUTTON') event.target.blur();
    event.preventDefault();
    action();
  }

  // A press that is not a drag selects the body there; a press on no body clears the selection.
  listenForClicks() {
    const canvas = this.viewer.stage.renderer.domElement;
    let down = null;
    canvas.addEventListener('pointerdown', (event) => { down = [event.clientX, event.clientY]; });
    canvas.addEventListener('pointerup', (event) => {
      if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > CLICK_TOLERANCE) return;
      this.viewer.follow(...this.viewer.pick(event.clientX, event.clientY));
    });
  }

  showTime() {
    const { clock } = this.viewer;
    element('time').textContent = `${clock.time.toFixed(2)} / ${clock.duration.toFixed(2)} s`;
    if (document.activeElement !== element('scrub')) element('scrub').value = clock.duration > 0 ? clock.time / clock.duration : 0;
    this.showFollowed();
    this.showStatus();
  }

  showFollowed() {
    const { viewer } = this;
    const { show, body } = viewer.followed;
    if (body < 0) return;
    const about = viewer.runs[show].bodies[body];
    const name = document.createElement('b');
    name.textContent = about.name;
    const mass = about.fixed ? 'fixed' : `${Number(about.mass.toPrecision(3))} kg`;
    element('followed').replaceChildren(name, ` ${mass}${viewer.modeText ? ` · ${viewer.modeText}` : ''}`);
  }

  // One line about the current frame; with two runs each has its own, under its label.
  showStatus() {
    const { panes } = this.viewer;
    element('status').textContent = panes.length < 2 ? this.status(0) : '';
    [...element('labels').children].forEach((label, i) => { label.dataset.status = this.status(i); });
  }

  status(number) {
    const { viewer } = this;
    const parts = [];
    const { run, marks } = viewer.panes[number];
    if (viewer.visible.contacts) parts.push(`${marks.contactsAt(viewer.frame[number])} contacts`);
    if (viewer.visible.response) {
      const last = marks.lastResponse(viewer.clock.time);
      if (last) parts.push(`${last.struck} struck, ${last.kicked} kicked, up to ${last.speed.toPrecision(2)} m/s`);
    }
    if (viewer.visible.impulses && run.contacts.max_impulse > 0) {
      parts.push(`max impulse of the run ${Number(run.contacts.max_impulse.toPrecision(2))} N s`);
    }
    return parts.join(' · ');
  }

  update() {
    const { clock, visible, panes } = this.viewer;
    element('play').textContent = clock.playing ? '❚❚' : '▶';
    element('play').setAttribute('aria-label', clock.playing ? 'Hold' : 'Play');
    for (const what of SHOWN) element(what).setAttribute('aria-pressed', String(visible[what]));
    element('speed').value = String(clock.speed);
    element('response').hidden = panes.every((show) => show.run.responses.times.length === 0);
    element('modes').hidden = panes.every((show) => show.modes.models.size === 0);
    element('modes').setAttribute('aria-pressed', String(this.viewer.mode >= 0));
    element('soundToggle').hidden = !clock.audio;
    element('soundToggle').setAttribute('aria-pressed', String(clock.audio ? !clock.audio.muted : false));
    element('listenHere').hidden = !this.viewer.here;
    element('listenHere').setAttribute('aria-pressed', String(this.viewer.listensHere));
    element('muteBody').hidden = !this.viewer.canMute;
    element('muteBody').setAttribute('aria-pressed', String(Boolean(this.viewer.mixer?.muted.has(this.viewer.followed.body))));
  }
}
