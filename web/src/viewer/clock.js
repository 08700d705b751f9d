// SPDX-License-Identifier: MIT
// Time on the page: plays, holds, jumps, at any speed; the sound is in step with it.
import { bytes } from '../shared/data.js';

const MAX_SOUND_DRIFT = 0.06;  // of picture and sound before the picture follows the sound [s]
export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];

export class Clock {
  constructor(duration) {
    this.duration = duration;
    this.time = 0;
    this.playing = false;
    this.speed = 1;
    this.last = null;
    this.audio = null;
    this.onChange = () => {};
  }

  setSound(base64) {
    const wasPlaying = this.playing;
    this.audio?.pause();
    this.audio = null;
    if (base64) {
      this.audio = document.getElementById('sound');
      this.audio.src = URL.createObjectURL(new Blob([bytes(base64)], { type: 'audio/wav' }));
      // Slow motion is also deeper, as a slowed recording is.
      this.audio.preservesPitch = false;
      this.syncSound(wasPlaying);
    }
  }

  play(on) {
    if (on && this.time >= this.duration) this.time = 0;
    this.playing = on && this.duration > 0;
    this.last = null;
    this.syncSound(this.playing);
    this.onChange();
  }

  seek(time) {
    this.time = Math.min(Math.max(time, 0), this.duration);
    this.syncSound(this.playing);
    this.onChange();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.syncSound(this.playing);
    this.onChange();
  }

  syncSound(playing) {
    const audio = this.audio;
    if (!audio) return;
    audio.currentTime = Math.min(this.time, Number.isFinite(audio.duration) ? audio.duration : this.time);
    // Browsers play nothing slower or faster than this.
    const audible = this.speed >= 0.07 && this.speed <= 16;
    if (audible) audio.playbackRate = this.speed;
    if (playing && audible) audio.play().catch(() => {});
    else audio.pause();
  }

  // Goes on to the moment `seconds` of the page; true when time has moved.
  tick(seconds) {
    if (!this.playing) return false;
    // A page that was in the background does not jump.
    const passed = this.last === null ? 0 : Math.min(seconds - this.last, 0.25);
    this.last = seconds;
    this.time += passed * this.speed;
    const audio = this.audio;
    if (audio && !audio.paused && !audio.seeking && Math.abs(audio.currentTime - this.time) > MAX_SOUND_DRIFT * Math.max(1, this.speed)) {
      this.time = audio.currentTime;
    }
    if (this.time >= this.duration) {
      this.time = this.duration;
      this.play(false);
    }
    return true;
  }
}
