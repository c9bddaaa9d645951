// A console that gets as much as it takes: lines, colours, some characters of two columns.
import { busyOf, median, quantile, startFrames, stopFrames } from "./page.mjs";

export async function consoles({ open, flooded, device, megabytes, repeat }) {
  const [rates, own, stalls, p95] = [[], [], [], []];
  for (let i = 0; i < repeat; i++) {
    const page = await open(`${flooded}/devices/${device}/console`);
    await page.locator(".screen").waitFor();
    const busy = await busyOf(page);
    const before = await busy();
    await page.evaluate(startFrames);
    const long = await page.evaluate((bytes) => new Promise((done) => {
      const screen = document.querySelector(".screen");
      let start;
      const look = () => {
        start ??= screen.textContent.length > 100 ? performance.now() : undefined;
        if (screen.textContent.includes("THE END OF IT")) return done(performance.now() - start);
        requestAnimationFrame(look);
      };
      look();
    }), megabytes);
    const gaps = await page.evaluate(stopFrames);
    own.push(megabytes / ((await busy() - before) / 1000));
    rates.push(megabytes / (long / 1000));
    stalls.push(Math.max(...gaps));
    p95.push(quantile(gaps, 0.95));
    await page.context().close();
  }
  return [
    { name: `console, ${megabytes} MB`, values: rates, unit: "MB/s", least: 10, note: `frames p95 ${median(p95).toFixed(0)} ms` },
    { name: "console: for each second of the page's processor time", values: own, unit: "MB", least: 10, note: "" },
    { name: "console, longest frame", values: stalls, unit: "ms", most: 100, note: "" },
  ];
}
