// Minutes of live view, one capture after the other with a decoder: the heap of the second half against that of the first.
import { median } from "./page.mjs";

const LOOK_MS = 2000;

export async function lives({ open, url, api, device, minutes }) {
  await api(`/bench/devices/${device}/command`, { command: { cmd: "target_power", efuse: 1, state: 1 } });
  const page = await open(`${url}/captures/live?device=${device}&decoder=${encodeURIComponent("i2c:scl=LA1,sda=LA2")}`);
  const until = performance.now() + minutes * 60_000;
  let captures = 0;
  const running = (async () => {
    while (performance.now() < until) {
      const { capture_id } = await api("/analyzer/captures/start", { device_id: device, samples: 2_000_000, sample_rate_mhz: 1, scl: "LA1", sda: "LA2", voltage_mv: 3300, name: "bench" });
      for (let status = "pending"; ["pending", "armed", "running"].includes(status); ) {
        await new Promise((later) => setTimeout(later, 200));
        ({ status } = await api(`/capture/${capture_id}?frames=none`));
      }
      await api(`/capture/${capture_id}`, undefined, "DELETE");
      captures++;
    }
  })();
  const session = await page.context().newCDPSession(page);
  const heap = [];
  const nodes = [];
  while (performance.now() < until) {
    await page.waitForTimeout(LOOK_MS);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    heap.push(usedSize / 1e6);
    nodes.push(await page.evaluate(() => document.querySelectorAll("*").length));
  }
  await running;
  await page.context().close();
  // The first looks see what is loaded and compiled once.
  const settled = heap.slice(Math.min(5, heap.length >> 2));
  const halves = [settled.slice(0, settled.length >> 1), settled.slice(settled.length >> 1)].map(median);
  return [{ name: `heap of live view, second half of ${minutes} min to the first`, values: [halves[1] / halves[0]], unit: "×", most: 1.1, note: `${halves[0].toFixed(1)} and ${halves[1].toFixed(1)} MB, ${captures} captures, ${median(nodes)} elements` }];
}
