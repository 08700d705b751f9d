// SPDX-License-Identifier: MIT
// The sound of a strike: a sum of damped sines, computed into a buffer and played.
let context;

// gains: one per mode; omegas [rad/s], decays [1/s]. Returns the maximum sample before scaling.
export function strikeSamples(gains, omegas, decays, rate, seconds) {
  const samples = new Float32Array(Math.ceil(rate * seconds));
  for (let m = 0; m < gains.length; ++m) {
    if (decays[m] >= omegas[m] || omegas[m] > Math.PI * rate * 0.9) continue;
    const damped = Math.sqrt(omegas[m] ** 2 - decays[m] ** 2);
    // The two-term recurrence of an impulse response.
    const e = Math.exp(-decays[m] / rate);
    const a1 = 2 * e * Math.cos(damped / rate);
    const a2 = e * e;
    let before = 0;
    let now = gains[m] * e * Math.sin(damped / rate);
    for (let k = 1; k < samples.length; ++k) {
      samples[k] += now;
      const next = a1 * now - a2 * before;
      before = now;
      now = next;
    }
  }
  return samples;
}

export function play(gains, omegas, decays) {
  context ??= new AudioContext();
  context.resume();
  const slowest = Math.min(...decays.filter((d) => d > 0), 50);
  const seconds = Math.min(Math.max(7 / slowest, 0.3), 6);
  const samples = strikeSamples(gains, omegas, decays, context.sampleRate, seconds);
  const peak = samples.reduce((max, x) => Math.max(max, Math.abs(x)), 0);
  if (peak > 0) for (let k = 0; k < samples.length; ++k) samples[k] *= 0.5 / peak;
  const buffer = context.createBuffer(1, samples.length, context.sampleRate);
  buffer.copyToChannel(samples, 0);
  const source = context.createBufferSource();
  source.buffer = buffer;
  source.connect(context.destination);
  source.start();
}
