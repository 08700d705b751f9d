// SPDX-License-Identifier: MIT
// The course of a WAV file with 32-bit floats, as the range of the samples in each column of pixels.
import { bytes } from '../shared/data.js';

// { rate, channels, samples } with the channels interleaved, or null for another kind of file.
export function parseWav(base64) {
  const file = bytes(base64);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const word = (at) => String.fromCharCode(...file.subarray(at, at + 4));
  if (file.length < 12 || word(0) !== 'RIFF' || word(8) !== 'WAVE') return null;
  let format = null;
  for (let at = 12; at + 8 <= file.length;) {
    const size = view.getUint32(at + 4, true);
    if (word(at) === 'fmt ') {
      format = { channels: view.getUint16(at + 10, true), rate: view.getUint32(at + 12, true), bits: view.getUint16(at + 22, true) };
    }
    if (word(at) === 'data' && format?.bits === 32) {
      const count = Math.floor(Math.min(size, file.length - at - 8) / 4);
      const samples = new Float32Array(count);
      for (let i = 0; i < count; ++i) samples[i] = view.getFloat32(at + 8 + 4 * i, true);
      return { ...format, samples };
    }
    at += 8 + size + size % 2;
  }
  return null;
}

// The lowest and the highest sample of each of `width` columns that cover `duration` seconds.
export function waveformColumns(wav, width, duration) {
  const [low, high] = [new Float32Array(width), new Float32Array(width)];
  const perColumn = duration * wav.rate / width;
  for (let x = 0; x < width; ++x) {
    const from = Math.floor(x * perColumn) * wav.channels;
    const to = Math.min(Math.max(Math.floor((x + 1) * perColumn) * wav.channels, from + 1), wav.samples.length);
    for (let i = from; i < to; ++i) {
      if (wav.samples[i] < low[x]) low[x] = wav.samples[i];
      if (wav.samples[i] > high[x]) high[x] = wav.samples[i];
    }
  }
  return { low, high };
}
