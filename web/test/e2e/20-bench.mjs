// The bench: power, leases, the console of the target.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FIRMWARE, api, open, stage } from "../stage.mjs";

const power = (state) => api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state } });

test("a rail is switched, and the switch says what the pod says", async () => {
  await power(0);
  const { page, silent } = await open("/devices");
  const rail = page.getByRole("switch", { name: "5 V rail of demo" });
  await rail.getByText("Off").waitFor();
  await rail.click();
  await rail.getByText("On", { exact: true }).waitFor();
  assert.equal(await rail.getAttribute("aria-checked"), "true");
  await page.getByText(/5\.0\d V/).waitFor();
  await power(0);
  await rail.getByText("Off").waitFor();
  await silent();
});

test("a lease that is taken elsewhere is seen, and locks the switch", async () => {
  const { page, silent } = await open("/devices");
  const { token } = await api("/auth/token", {});
  const headers = { authorization: `Bearer ${token}` };
  await api("/cloud/devices/lease?device=demo", { lease_id: "e2e-1", run_label: "nightly 7", ttl_seconds: 60 }, { headers });
  await page.getByText("nightly 7").waitFor();
  assert(await page.getByRole("switch").isDisabled());
  await api("/cloud/devices/lease/release?device=demo", { lease_id: "e2e-1" }, { headers });
  await page.getByText("Free").waitFor();
  await silent();
});

test("a console is live again when a lease that closed it has ended", async () => {
  const { context, page, said } = await open(`/devices/${stage.device}/console`);
  await page.getByText("Live").waitFor();
  const { token } = await api("/auth/token", {});
  const headers = { authorization: `Bearer ${token}` };
  await api("/cloud/devices/lease?device=demo", { lease_id: "e2e-2", run_label: "nightly 8", ttl_seconds: 60 }, { headers });
  await page.getByText("nightly 8 holds this device.").waitFor();
  await page.getByText(/^Reconnecting/).waitFor();
  await api("/cloud/devices/lease/release?device=demo", { lease_id: "e2e-2" }, { headers });
  await page.getByText("Live").waitFor({ timeout: 60_000 });
  await page.getByText("nightly 8").waitFor({ state: "detached" });
  // A browser reports each refused handshake, which the page cannot prevent.
  assert.deepEqual(said.filter((line) => !/^error: WebSocket connection to .* failed: .* 409$/.test(line)), []);
  await context.close();
});

test("the console shows the target from its banner on, finds words in it and sends what is typed", async () => {
  const { page, silent } = await open(`/devices/${stage.device}/console`);
  await page.getByText("Live").waitFor();
  const form = new FormData();
  form.set("target", "target/stm32f0x.cfg");
  form.set("firmware", new Blob([readFileSync(FIRMWARE)]), "demo.elf");
  await power(1);
  const flashed = api(`/bench/devices/${stage.device}/flash`, form);
  await page.getByText("APP_OK").waitFor({ timeout: 60_000 });
  await flashed;
  await page.getByRole("log").click();
  await page.keyboard.type("help\n");
  await page.getByText("commands:").waitFor();
  await page.getByLabel("Search the console").fill("app_ok");
  await page.locator(".hit", { hasText: "APP_OK" }).waitFor();
  await page.getByLabel("Search the console").fill("");
  await page.getByLabel("Hex").check();
  await page.getByText("41 50 50 5f 4f 4b").or(page.locator(".hextext", { hasText: "APP" })).first().waitFor();
  await silent();
});
