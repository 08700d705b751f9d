// SPDX-License-Identifier: MIT
// Playback time: play, pause, jump, at any speed; the sound is synchronised with it.
const MAX_SOUND_DRIFT = 0.06;  // between picture and sound before the picture is set to the sound's time [s]
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

  // Bytes of a WAV file, or a player of its own (camera_player.js), or none.
  setSound(file) {
    const wasPlaying = this.playing;
    const wasMuted = this.audio?.muted ?? false;
    this.audio?.pause();
    this.audio?.close?.();
    this.audio = null;
    if (file?.play) {
      this.audio = file;
      this.audio.muted = wasMuted;
      this.syncSound(wasPlaying);
    } else if (file) {
      this.audio = document.getElementById('sound');
      URL.revokeObjectURL(this.audio.src);
      this.audio.src = URL.createObjectURL(new Blob([file], { type: 'audio/wav' }));
      // Slow motion also lowers the pitch, like a slowed recording.
      this.audio.preservesPitch = false;
      this.audio.muted = wasMuted;
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
    // Browsers do not play slower or faster than this.
    const audible = this.speed >= 0.07 && this.speed <= 16;
    if (audible) audio.playbackRate = this.speed;
    if (playing && audible) audio.play().catch(() => {});
    else audio.pause();
  }

  // Advances to the time `seconds` of the page; true when the time changed.
  tick(seconds) {
    if (!this.playing) return false;
    // After a pause in the background the time does not jump.
    const passed = this.last === null ? 0 : Math.min(seconds - this.last, 0.25);
    this.last = seconds;
    this.time += passed * this.speed;
    const audio = this.audio;
    if (audio && !audio.paused && !audio.seeking && Math.abs(audio.currentTime - this.time) > MAX_SOUND_DRIFT * Math.max(1, this.speed)) {
      this.time = audio.currentTime;
    }
    if (this.time >= this.duration) {
      this.time = this.duration;
      // The sound goes on: bodies ring after the last frame.
      this.playing = false;
      this.last = null;
      this.onChange();
    }
    return true;
  }
}
