// SPDX-License-Identifier: MIT
// The timeline: energy above, impulses and the response below, then the sound, drawn once; the cursor moves
// over them.
// Dragging scrubs.
import { COLOURS } from './marks.js';
import { waveformColumns } from './waveform.js';

const css = (colour) => `#${colour.toString(16).padStart(6, '0')}`;
const INK = '#26323a';
const KINETIC = '#d9822b';
const POTENTIAL = '#7fa7bd';
const ELASTIC = '#8a5fa8';
const SOUND = '#4f7f5f';
const SOUND_SHARE = 0.28;  // of the height
const LEFT = 8;
const RIGHT = 8;

// The values at each column of pixels: the maximum of the frames there, or, between frames, interpolated.
function columns(run, values, width, duration) {
  const columnMax = new Float32Array(width);
  let next = 0;
  for (let x = 0; x < width; ++x) {
    const [from, to] = [x / width * duration, (x + 1) / width * duration];
    let found = -Infinity;
    while (next < values.length && run.times[next] < to) found = Math.max(found, values[next++]);
    if (found === -Infinity) {
      const [a, b] = [Math.max(next - 1, 0), Math.min(next, values.length - 1)];
      const gap = run.times[b] - run.times[a];
      found = gap > 0 ? values[a] + (values[b] - values[a]) * ((from - run.times[a]) / gap) : values[a];
    }
    columnMax[x] = found;
  }
  return columnMax;
}

const minOf = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const maxOf = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

export class Plots {
  constructor(canvas, runs, onSeek) {
    this.canvas = canvas;
    this.back = document.createElement('canvas');
    this.setRuns(runs);
    const seek = (event) => {
      const box = canvas.getBoundingClientRect();
      onSeek((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT) * this.duration);
    };
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    canvas.addEventListener('pointermove', (event) => { if (canvas.hasPointerCapture(event.pointerId)) seek(event); });
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  // Runs side by side share their scales and the zero of the energy.
  setRuns(runs) {
    this.runs = runs;
    this.duration = Math.max(...runs.map((run) => run.duration), 1e-9);
    this.floor = minOf(runs.map((run) => minOf(run.potential)));
    this.energyTop = Math.max(maxOf(runs.map((run) => maxOf(run.total))) - this.floor, 1e-12);
    this.impulseTop = Math.max(maxOf(runs.map((run) => maxOf(run.impulse))), 1e-12);
  }

  setWave(wav) {
    this.wav = wav ?? null;
    this.resize();
  }

  replace(runs) {
    this.setRuns(runs);
    this.resize();
    return this;
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio, 2);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (width === 0 || height === 0) return;
    for (const canvas of [this.canvas, this.back]) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
    }
    this.ratio = ratio;
    this.drawBack(width, height);
    this.show(this.time ?? 0);
  }

  drawBack(width, height) {
    const draw = this.back.getContext('2d');
    draw.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    draw.clearRect(0, 0, width, height);
    const inner = Math.max(Math.floor(width - LEFT - RIGHT), 1);
    const motion = this.wav ? Math.round(height * (1 - SOUND_SHARE)) : height;
    const split = Math.round(motion * 0.6);
    draw.fillStyle = '#f1f4f5';
    draw.fillRect(LEFT, 0, inner, split - 2);
    draw.fillRect(LEFT, split + 2, inner, motion - split - 2);
    if (this.wav) draw.fillRect(LEFT, motion + 4, inner, height - motion - 4);
    this.drawTicks(draw, inner, height);
    this.runs.forEach((run, i) => this.drawEnergy(draw, run, inner, split - 2, i));
    this.runs.forEach((run, i) => this.drawImpulses(draw, run, inner, split + 2, motion - split - 2, i));
    if (this.wav) this.drawSound(draw, inner, motion + 4, height - motion - 4);
    draw.font = '11px system-ui, sans-serif';
    draw.textBaseline = 'top';
    const above = [[KINETIC, 'kinetic'], [POTENTIAL, 'potential']];
    if (this.runs.some((run) => maxOf(run.elastic) > 0)) above.push([ELASTIC, 'vibration and contacts']);
    this.key(draw, LEFT + 6, 4, [...above, [INK, 'total energy']]);
    const below = [[css(COLOURS.impulse), 'impulses']];
    if (this.runs.some((run) => run.responses.times.length > 0)) {
      below.push([css(COLOURS.struck), 'struck'], [css(COLOURS.kicked), 'kicked']);
    }
    this.key(draw, LEFT + 6, split + 5, below);
  }

  key(draw, x, y, entries) {
    for (const [colour, word] of entries) {
      draw.fillStyle = colour;
      draw.fillRect(x, y + 4, 10, 3);
      draw.fillStyle = '#52616b';
      draw.fillText(word, x + 14, y);
      x += 26 + draw.measureText(word).width;
    }
  }

  // A faint line every second, or every five or ten.
  drawTicks(draw, inner, height) {
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300].find((s) => this.duration / s <= 12) ?? 600;
    draw.fillStyle = '#dfe5e8';
    for (let t = step; t < this.duration; t += step) draw.fillRect(LEFT + t / this.duration * inner, 0, 1, height);
  }

  drawEnergy(draw, run, inner, height, number) {
    if (run.times.length === 0) return;
    const { floor } = this;
    const potential = columns(run, run.potential.map((e) => e - floor), inner, this.duration);
    const kinetic = columns(run, run.kinetic, inner, this.duration);
    const elastic = columns(run, run.elastic, inner, this.duration);
    const total = columns(run, run.total.map((e) => e - floor), inner, this.duration);
    const y = (e) => 18 + (height - 20) * (1 - e / this.energyTop);
    const end = Math.min(Math.ceil(run.duration / this.duration * inner), inner);
    const area = (values, colour) => {
      draw.beginPath();
      draw.moveTo(LEFT, y(0));
      for (let x = 0; x < end; ++x) draw.lineTo(LEFT + x, y(values[x]));
      draw.lineTo(LEFT + end, y(0));
      draw.fillStyle = colour;
      draw.fill();
    };
    const line = (values, colour) => {
      draw.beginPath();
      for (let x = 0; x < end; ++x) draw.lineTo(LEFT + x, y(values[x]));
      draw.strokeStyle = colour;
      draw.lineWidth = 1.5;
      draw.setLineDash(number > 0 ? [5, 4] : []);
      draw.stroke();
      draw.setLineDash([]);
    };
    if (number === 0) {
      area(potential, `${POTENTIAL}55`);
      area(kinetic, `${KINETIC}55`);
    }
    line(potential, POTENTIAL);
    line(kinetic, KINETIC);
    if (maxOf(run.elastic) > 0) line(elastic, ELASTIC);
    line(total, INK);
  }

  // The square root keeps soft sounds visible beside loud ones.
  drawSound(draw, inner, top, height) {
    const { low, high } = waveformColumns(this.wav, inner, this.duration);
    const loudest = Math.max(maxOf(high), -minOf(low), 1e-9);
    const y = (value) => top + height / 2 * (1 - Math.sign(value) * Math.sqrt(Math.abs(value) / loudest));
    draw.fillStyle = SOUND;
    for (let x = 0; x < inner; ++x) {
      const from = y(high[x]);
      draw.fillRect(LEFT + x, from, 1, Math.max(y(low[x]) - from, 0.5));
    }
  }

  drawImpulses(draw, run, inner, top, height, number) {
    draw.globalAlpha = number > 0 ? 0.45 : 1;
    draw.fillStyle = css(COLOURS.impulse);
    for (let i = 0; i < run.times.length; ++i) {
      // The square root keeps small impacts visible beside large ones.
      const size = Math.sqrt(run.impulse[i] / this.impulseTop) * (height - 16);
      if (size > 0.3) draw.fillRect(LEFT + run.times[i] / this.duration * inner - 0.75, top + height - size, 1.5, size);
    }
    const { times, kinds } = run.responses;
    for (let k = 0; k < times.length; ++k) {
      draw.fillStyle = css(kinds[k] === 0 ? COLOURS.struck : COLOURS.kicked);
      draw.fillRect(LEFT + times[k] / this.duration * inner - 0.5, top + (kinds[k] === 0 ? 0 : 4), 1.5, 3);
    }
    draw.globalAlpha = 1;
  }

  show(time) {
    this.time = time;
    const draw = this.canvas.getContext('2d');
    draw.setTransform(1, 0, 0, 1, 0, 0);
    draw.clearRect(0, 0, this.canvas.width, this.canvas.height);
    draw.drawImage(this.back, 0, 0);
    const width = this.canvas.width / this.ratio - LEFT - RIGHT;
    const x = (LEFT + time / this.duration * width) * this.ratio;
    draw.fillStyle = INK;
    draw.fillRect(x - this.ratio * 0.75, 0, 1.5 * this.ratio, this.canvas.height);
    draw.beginPath();
    draw.arc(x, 4 * this.ratio, 4 * this.ratio, 0, 2 * Math.PI);
    draw.fill();
  }
}
