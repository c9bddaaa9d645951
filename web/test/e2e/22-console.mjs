// The console beyond its line: a target without power, earlier lines, the end, what is saved, what stands in the address.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FIRMWARE, api, findings, open, screenshot, stage } from "../stage.mjs";

const power = (state) => api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state } });

test("a console says that its target is off, and switches it on", async () => {
  const form = new FormData();
  form.set("target", "target/stm32f0x.cfg");
  form.set("firmware", new Blob([readFileSync(FIRMWARE)]), "demo.elf");
  await power(1);
  assert.equal((await api(`/bench/devices/${stage.device}/flash`, form)).ok, true);
  await power(0);
  const { page, silent } = await open(`/devices/${stage.device}/console?times=1`);
  await page.getByText("Live").waitFor();
  await page.getByText("The target is off, so it says nothing.").waitFor();
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "console-no-power");
  await page.getByRole("switch", { name: "5 V rail of demo" }).click();
  await page.getByText("The target is off, so it says nothing.").waitFor({ state: "detached" });
  await page.getByText("APP_OK").first().waitFor({ timeout: 30_000 });
  await page.locator(".stamp", { hasText: /^\d\d:\d\d:\d\d\.\d{3}$/ }).first().waitFor();
  const line = page.getByLabel("Line to send");
  for (const text of ["help", "status"]) {
    await line.fill(text);
    await line.press("Enter");
  }
  await page.getByText("commands:").first().waitFor();
  await line.press("ArrowUp");
  await line.press("ArrowUp");
  assert.equal(await line.inputValue(), "help");
  await line.press("ArrowDown");
  await line.press("ArrowDown");
  assert.equal(await line.inputValue(), "");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save" }).click()]);
  assert.match(readFileSync(await saved.path(), "utf8"), /^\d\d:\d\d:\d\d\.\d{3} {2}.*APP_OK$/m);
  await page.getByLabel("Hex").check();
  await page.waitForFunction(() => new URL(location.href).searchParams.has("hex"));
  const [bytes] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save" }).click()]);
  assert.match(readFileSync(await bytes.path(), "latin1"), /APP_OK\r\n/);
  await silent();
});
