// Zooming and dragging in a capture of a billion samples, 14 digital and 2 analog lanes with two decoders.
import { busyOf, quantile, startDraws, startFrames, stopFrames } from "./page.mjs";

const FRAMES = 240;

/** One event in each frame, as a fast hand gives them. */
const moved = ({ kind, frames }) => new Promise((done) => {
  const canvas = document.querySelector("canvas.over");
  const { left, top, width } = canvas.getBoundingClientRect();
  const at = (x) => ({ clientX: left + x, clientY: top + 150, bubbles: true, cancelable: true, button: 0, buttons: 1, pointerId: 1 });
  if (kind === "drag") canvas.setPointerCapture = () => {};
  let i = 0;
  const step = () => {
    if (kind === "zoom") {
      // In for a quarter, out for a quarter, twice.
      canvas.dispatchEvent(new WheelEvent("wheel", { ...at(width * 0.4), deltaY: Math.floor((4 * i) / frames) % 2 === 0 ? -120 : 120 }));
    } else {
      const x = width / 2 + (width / 3) * Math.sin(i / 12);
      if (i === 0) canvas.dispatchEvent(new PointerEvent("pointerdown", at(x)));
      canvas.dispatchEvent(new PointerEvent("pointermove", at(x)));
    }
    if (++i < frames) return void requestAnimationFrame(step);
    if (kind === "drag") canvas.dispatchEvent(new PointerEvent("pointercancel", at(0)));
    done();
  };
  requestAnimationFrame(step);
});

export async function frames({ open, synthetic, repeat }) {
  const decoders = ["i2c:scl=SCL,sda=SDA", "uart:rx=UART RX"].map((one) => `decoder=${encodeURIComponent(one)}`).join("&");
  const page = await open(`${synthetic}/captures/synthetic?${decoders}`);
  await page.getByText("130\u202f000").first().waitFor({ timeout: 60_000 });
  await page.waitForTimeout(1500);
  const rows = [];
  await page.evaluate(startDraws);
  const busy = await busyOf(page);
  for (const kind of ["zoom", "drag"]) {
    const all = [];
    const taken = [];
    for (let i = 0; i < repeat; i++) {
      await page.evaluate(() => document.querySelector("canvas.over").dispatchEvent(new KeyboardEvent("keydown", { key: "f" })));
      // Dragged where edges are many: fifty milliseconds of ten seconds.
      if (kind === "drag") await page.evaluate(() => { for (let i = 0; i < 6; i++) document.querySelector("canvas.over").dispatchEvent(new KeyboardEvent("keydown", { key: "+" })); });
      await page.waitForTimeout(500);
      await page.evaluate(startFrames);
      const before = await busy();
      await page.evaluate(moved, { kind, frames: FRAMES });
      taken.push((await busy() - before) / FRAMES);
      all.push(await page.evaluate(stopFrames));
    }
    rows.push({ name: `frames, ${kind}: p95 of ${FRAMES}`, values: all.map((gaps) => quantile(gaps, 0.95)), unit: "ms", most: 17, note: `p50 ${quantile(all.flat(), 0.5).toFixed(1)}` });
    rows.push({ name: `${kind}: processor time of the page for each frame`, values: taken, unit: "ms", most: 8, note: "" });
  }
  const draws = await page.evaluate(() => globalThis.draws);
  rows.push({ name: "drawing one frame: p95", values: [quantile(draws, 0.95)], unit: "ms", most: 8, note: `p50 ${quantile(draws, 0.5).toFixed(1)}, ${draws.length} frames` });
  await page.context().close();
  return rows;
}
