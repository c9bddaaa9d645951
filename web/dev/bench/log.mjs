// The log of a job with 100,000 lines: opened, scrolled, searched.
import { busyOf, quantile, startFrames, stopFrames } from "./page.mjs";

const FRAMES = 180;

/** Scrolls from the beginning to the end and back. */
const scrolled = (frames) => new Promise((done) => {
  const rows = document.querySelector(".log .rows");
  let i = 0;
  const step = () => {
    rows.scrollTop = rows.scrollHeight * 0.5 * (1 - Math.cos((2 * Math.PI * i) / frames));
    if (++i < frames) requestAnimationFrame(step);
    else done();
  };
  step();
});

/** From a text in the field for searching to what is said of it. */
const searched = (text) => new Promise((done) => {
  const field = document.querySelector('[aria-label="Search the log"]');
  const before = field.parentElement.textContent;
  const start = performance.now();
  field.value = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  const look = () => (field.parentElement.textContent !== before ? done(performance.now() - start) : requestAnimationFrame(look));
  requestAnimationFrame(look);
});

export async function logs({ open, synthetic, repeat }) {
  const [opened, scroll, stalls, search, taken, frame] = [[], [], [], [], [], []];
  for (let i = 0; i < repeat; i++) {
    const page = await open(`${synthetic}/devices`);
    await page.getByRole("link", { name: "demo" }).first().waitFor();
    const busy = await busyOf(page);
    const before = await busy();
    await page.evaluate(startFrames);
    // As a link of the page does: without loading it again.
    opened.push(await page.evaluate(() => new Promise((done) => {
      const start = performance.now();
      history.pushState(null, "", "/jobs/synthetic");
      dispatchEvent(new PopStateEvent("popstate"));
      const look = () => (/100\u202f\d\d\d lines/.test(document.querySelector(".log .bar")?.textContent ?? "") && document.querySelector(".logline") ? done(performance.now() - start) : requestAnimationFrame(look));
      look();
    })));
    taken.push(await busy() - before);
    stalls.push(Math.max(...(await page.evaluate(stopFrames))));
    await page.waitForTimeout(300);
    await page.evaluate(startFrames);
    const still = await busy();
    await page.evaluate(scrolled, FRAMES);
    frame.push((await busy() - still) / FRAMES);
    scroll.push(quantile(await page.evaluate(stopFrames), 0.95));
    search.push(await page.evaluate(searched, "assertion failed"));
    await page.context().close();
  }
  return [
    { name: "log of 100,000 lines, click to lines", values: opened, unit: "ms", most: 500, note: `longest frame ${quantile(stalls, 0.5).toFixed(0)} ms, ${quantile(taken, 0.5).toFixed(0)} ms of the page's processor time` },
    { name: `log, scrolling: p95 of ${FRAMES} frames`, values: scroll, unit: "ms", most: 33, note: "" },
    { name: "log, scrolling: processor time of the page for each frame", values: frame, unit: "ms", most: 16, note: "" },
    { name: "log, a word found in all of it", values: search, unit: "ms", most: 100, note: "" },
  ];
}
