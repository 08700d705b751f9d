// SPDX-License-Identifier: MIT
// Behind `thrum view` the page asks now and then whether the run has gone on, and takes what is new.

export async function followLive(viewer) {
  if (!/^https?:$/.test(location.protocol) || !document.querySelector('meta[name=thrum-live]')) return;
  let known = null;
  for (;;) {
    const started = performance.now();
    try {
      const status = await (await fetch('/live/status')).json();
      if (known !== null && status.revision !== known) {
        const atEnd = viewer.clock.time >= viewer.clock.duration;
        viewer.load(await (await fetch('/live/data')).json());
        if (atEnd) viewer.clock.play(true);
        document.body.dataset.reloads = Number(document.body.dataset.reloads ?? 0) + 1;
      }
      known = status.revision;
      document.body.dataset.live = status.complete ? 'complete' : 'running';
    } catch {
      document.body.dataset.live = 'gone';
    }
    // A long run takes longer to pack: ask a fifth of the time at most.
    const took = performance.now() - started;
    await new Promise((resolve) => { setTimeout(resolve, Math.max(700, 4 * took)); });
  }
}
