// SPDX-License-Identifier: MIT
// With `thrum view` the page checks at intervals whether the run has progressed, and loads new data.

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
    // A long run takes longer to pack: spend at most a fifth of the time on updates.
    const took = performance.now() - started;
    await new Promise((resolve) => { setTimeout(resolve, Math.max(700, 4 * took)); });
  }
}
