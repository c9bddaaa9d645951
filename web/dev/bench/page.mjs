// What runs in the page while it is measured. Frames are told by requestAnimationFrame: a gap is what a person sees as a stall.

/** The value below which a share of all lies. */
export const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
export const median = (values) => quantile(values, 0.5);

/** Counts frames from now on; `page.evaluate(stopFrames)` gives the gaps between them in milliseconds. */
export const startFrames = () => {
  const gaps = [];
  let last = performance.now();
  const next = () => {
    const now = performance.now();
    gaps.push(now - last);
    last = now;
    frame = requestAnimationFrame(next);
  };
  let frame = requestAnimationFrame(next);
  globalThis.stopFrames = () => {
    cancelAnimationFrame(frame);
    return gaps.slice(1);
  };
};
export const stopFrames = () => globalThis.stopFrames();

/** Processor time that the main thread of a page has taken, in milliseconds: beside other work on the same cores, frames say more of those. */
export async function busyOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  };
}

/** Draws of the viewer from now on, in milliseconds. */
export const startDraws = () => {
  globalThis.draws = [];
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) if (name === "viewer.draw") globalThis.draws.push(duration);
  }).observe({ type: "measure" });
};
