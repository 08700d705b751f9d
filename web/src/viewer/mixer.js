// SPDX-License-Identifier: MIT
// The sound of a run without the bodies that are muted: the whole sound less their stems; at the camera, without
// what they emit.
import { bytes, int16 } from '../shared/data.js';
import { parseWav } from './waveform.js';

const HEADER_BYTES = 44;

// Bytes of a WAV file of 32-bit floats.
function wavFile({ rate, channels, samples }) {
  const file = new Uint8Array(HEADER_BYTES + 4 * samples.length);
  const view = new DataView(file.buffer);
  const word = (at, text) => [...text].forEach((c, i) => { file[at + i] = c.charCodeAt(0); });
  word(0, 'RIFF');
  view.setUint32(4, file.length - 8, true);
  word(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 3, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 4 * rate * channels, true);
  view.setUint16(32, 4 * channels, true);
  view.setUint16(34, 32, true);
  word(36, 'data');
  view.setUint32(40, 4 * samples.length, true);
  new Float32Array(file.buffer, HEADER_BYTES).set(samples);
  return file;
}

export class Mixer {
  // `here`: the sound at the camera, if the page has it (camera_sound.js).
  constructor(run, here = null) {
    this.file = bytes(run.sound);
    this.whole = parseWav(run.sound);
    this.wav = this.whole;  // what is heard
    this.stems = new Map((this.whole ? run.stems ?? [] : []).map((stem) => [stem.body, stem]));
    this.muted = new Set();
    this.here = here;
    if (here) here.muted = this.muted;
  }

  canMute(body, here = false) {
    return here ? this.here.sources.has(body) : this.stems.has(body);
  }

  // Mutes the body, or lets it be heard again.
  toggle(body) {
    if (!this.muted.delete(body)) this.muted.add(body);
    if (this.stems.size === 0) return;
    const samples = this.whole.samples.slice();
    for (const number of this.muted) {
      const stem = this.stems.get(number);
      if (!stem) continue;
      stem.values ??= int16(stem.samples);
      for (let i = 0; i < stem.values.length; ++i) samples[stem.first + i] -= stem.scale * stem.values[i];
    }
    this.wav = { ...this.whole, samples };
    this.file = wavFile(this.wav);
  }
}
