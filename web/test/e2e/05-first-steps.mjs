// A new bench: from the link of the first start to a decoded capture, by the words on the screen alone.
import { test } from "node:test";
import { api, findings, open, stage } from "../stage.mjs";
import assert from "node:assert/strict";

test("three steps lead to the first capture, decoded", async () => {
  const { page, silent } = await open("/");
  await page.getByRole("heading", { name: "Three steps to the first capture" }).waitFor();
  assert.deepEqual(await findings(page), []);
  const rail = page.getByRole("switch", { name: "Power of the target of demo" });
  await rail.getByText("Off").waitFor();
  await rail.click();
  await page.getByText("Switch the target on, done").waitFor();
  await page.getByRole("link", { name: "Open the console" }).click();
  await page.getByText("Live").waitFor();
  await page.getByRole("link", { name: "Devices" }).click();
  await page.getByRole("button", { name: "Capture one second" }).click();
  await page.getByRole("heading", { name: "first capture" }).waitFor({ timeout: 20_000 });
  await page.getByText("Address write: 68").first().waitFor();
  // Where there are captures, no steps are needed any more.
  await page.getByRole("link", { name: "Devices" }).click();
  await page.getByRole("link", { name: "demo", exact: true }).waitFor();
  await page.waitForTimeout(500);
  assert.equal(await page.getByRole("heading", { name: "Three steps to the first capture" }).count(), 0);
  await silent();
  await api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state: 0 } });
});
