// SPDX-License-Identifier: MIT
// Plays the sound that is heard at the camera, a short piece at a time, so that it follows the camera. It has the
// properties of an <audio> element that the clock uses.
const PIECE = 0.04;          // that is mixed at once [s]
const AHEAD = 0.12;          // mixed before it is heard [s]
const AHEAD_HIDDEN = 2.5;    // likewise on a page in the background, whose timers are slow [s]
const INTERVAL = 25;         // between two looks at what is needed [ms]
const START_DELAY = 0.02;    // before the first piece [s]
// A piece is heard with the camera as it was this long before it could be mixed at the earliest, so that the pictures
// until its end are known: one piece and two pictures [s].
const LAG = 0.1;
// Between the clocks of page and sound: the latter advances by whole buffers, so the difference is followed slowly.
const CLOCK_SHARE = 0.002;   // of a difference that is taken over at each look
const MAX_CLOCK_ERROR = 0.1; // above this at once, as after a pause [s]

export class CameraPlayer {
  // cameraAt(seconds) gives { eye, right } at a time of the page, as of performance.now() (camera_track.js).
  constructor(sound, cameraAt) {
    this.sound = sound;
    this.cameraAt = cameraAt;
    this.offset = -Infinity; // from the clock of the sound to that of the page [s]
    this.context = null;
    this.paused = true;
    this.seeking = false;
    this.rate = 1;
    this.isMuted = false;
    this.held = 0;           // time at which it is paused [s]
    this.nodes = new Set();
  }

  get duration() {
    return this.sound.duration;
  }

  get currentTime() {
    if (this.paused || this.context?.state !== 'running') return this.held;
    const passed = this.context.currentTime - (this.context.outputLatency ?? 0) - this.begun;
    return Math.min(this.held + Math.max(0, passed) * this.rate, this.duration);
  }

  set currentTime(time) {
    this.held = time;
    if (!this.paused) this.restart();
  }

  get playbackRate() {
    return this.rate;
  }

  set playbackRate(rate) {
    if (rate === this.rate) return;
    this.held = this.currentTime;
    this.rate = rate;
    if (!this.paused) this.restart();
  }

  get muted() {
    return this.isMuted;
  }

  set muted(on) {
    this.isMuted = on;
    if (this.output) this.output.gain.value = on ? 0 : 1;
  }

  // Rejected when the browser does not play yet, as before the first click on the page.
  async play() {
    if (!this.paused) return;
    if (!this.context) {
      this.context = new AudioContext({ sampleRate: this.sound.rate });
      this.output = this.context.createGain();
      this.output.gain.value = this.isMuted ? 0 : 1;
      this.output.connect(this.context.destination);
    }
    this.paused = false;
    this.restart();
    this.timer = setInterval(() => this.fill(), INTERVAL);
    await this.context.resume();
  }

  pause() {
    if (this.paused) return;
    this.held = this.currentTime;
    this.paused = true;
    clearInterval(this.timer);
    this.stopNodes();
  }

  // Not to be used after.
  close() {
    this.pause();
    this.context?.close();
  }

  stopNodes() {
    for (const node of this.nodes) node.stop();
    this.nodes.clear();
  }

  restart() {
    this.stopNodes();
    this.begun = this.context.currentTime + START_DELAY;
    this.mixed = 0;          // since then [samples]
    this.compareClocks();
    this.camera = this.cameraFor(this.begun);
    this.fill();
  }

  compareClocks() {
    const error = performance.now() / 1000 - this.context.currentTime - this.offset;
    if (Math.abs(error) > MAX_CLOCK_ERROR) this.offset = performance.now() / 1000 - this.context.currentTime;
    else this.offset += CLOCK_SHARE * error;
  }

  // For what is heard at a time of the sound's clock.
  cameraFor(time) {
    return this.cameraAt(time + this.offset - AHEAD - LAG);
  }

  fill() {
    const { context, sound } = this;
    if (!this.paused && this.currentTime >= this.duration) return this.pause();
    const ahead = document.hidden ? AHEAD_HIDDEN : AHEAD;
    const count = Math.round(PIECE * sound.rate);
    this.compareClocks();
    // Time that passed unheard is not made up for.
    const late = context.currentTime - (this.begun + this.mixed / sound.rate);
    if (late > 0) {
      this.mixed += Math.ceil(late * sound.rate);
      this.camera = this.cameraFor(this.begun + this.mixed / sound.rate);
    }
    while (this.begun + this.mixed / sound.rate < context.currentTime + ahead) {
      const time = this.held + this.mixed / sound.rate * this.rate;
      sound.updateEnd(time, this.camera);
      if (time >= this.duration) return undefined;
      const camera = this.cameraFor(this.begun + (this.mixed + count) / sound.rate);
      const channels = sound.mix(time, count, this.rate, this.camera, camera);
      this.camera = camera;
      const buffer = context.createBuffer(2, count, sound.rate);
      channels.forEach((samples, side) => buffer.copyToChannel(samples, side));
      const node = context.createBufferSource();
      node.buffer = buffer;
      node.connect(this.output);
      node.onended = () => this.nodes.delete(node);
      node.start(this.begun + this.mixed / sound.rate);
      this.nodes.add(node);
      this.mixed += count;
    }
    return undefined;
  }
}
