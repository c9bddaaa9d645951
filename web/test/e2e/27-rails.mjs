// The last hour of a rail on the page of its device.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, findings, open, screenshot, stage } from "../stage.mjs";

const power = (state) => api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state } });

for (const [width, colorScheme] of [[1400, "light"], [390, "dark"]])
  test(`what a rail gave is drawn, read with the pointer and the keyboard, and said in words, ${width} px`, async () => {
    await power(1);
    const { page, silent } = await open(`/devices/${stage.device}`, { colorScheme, viewport: { width, height: 900 } });
    const plot = page.getByRole("slider", { name: "Internal 5 V, a moment of the last hour" });
    await plot.waitFor();
    await plot.and(page.locator('[aria-valuetext*=" 5."]')).waitFor({ timeout: 15_000 });
    // The lowest may have been read while the rail rose.
    await page.getByText(/With power: \d\.\d\d V.*on average \d+\.\d mA/).waitFor();
    await power(0);
    await page.getByText("Off now.").waitFor({ timeout: 15_000 });
    assert.match(await plot.getAttribute("aria-valuetext"), /^\d\d:\d\d:\d\d, 0\.00 V, 0\.0 mA$/);
    await plot.focus();
    // Back to a moment with power.
    for (let i = 0; i < 20 && !/5\.\d\d V/.test(await plot.getAttribute("aria-valuetext")); i++) await page.keyboard.press("ArrowLeft");
    assert.match(await plot.getAttribute("aria-valuetext"), /5\.\d\d V/);
    await page.keyboard.press("Escape");
    assert.match(await plot.getAttribute("aria-valuetext"), /0\.00 V/);
    await plot.hover({ position: { x: 70, y: 40 } });
    await plot.locator(".here").waitFor({ state: "attached" });
    assert.deepEqual(await findings(page), []);
    await screenshot(page, `rails-${width}`);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await silent();
  });

test("a device that was never measured says so, and one without power", async () => {
  const empty = { interval_ms: 5000, rails: [{ rail: 1, at_ms: [], mv: [], ua: [], ua_max: [] }] };
  for (const [json, words] of [[empty, "Nothing has been measured yet."], [{ interval_ms: 5000, rails: [{ rail: 1, at_ms: [Date.now()], mv: [2], ua: [0], ua_max: [0] }] }, "The target had no power."]]) {
    const { page, silent } = await open("/sign-in");
    await page.route("**/telemetry*", (route) => route.fulfill({ json }));
    await page.goto(`${stage.url}/devices/${stage.device}`);
    await page.getByText(words).waitFor();
    await silent();
  }
});
