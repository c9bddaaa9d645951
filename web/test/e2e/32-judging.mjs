// What the viewer says of a capture besides showing it: rules, a good capture over it, a conversation, labels, exports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FIRMWARE, api, capture, findings, finished, open, screenshot, stage } from "../stage.mjs";

const SIDE = { name: "Measuring and decoding" };

test("rules are judged, what is wrong in them has its line, and a failing place is shown", async () => {
  const { page, silent, said } = await open(`/captures/${stage.capture}`);
  await page.getByRole("button", { name: "Write rules" }).click();
  const sheet = page.getByRole("dialog", { name: "Rules" });
  await sheet.getByLabel("Rules, as YAML or JSON").fill("rules:\n  - name: a\n    puls: { channel: LA1 }");
  await sheet.getByRole("button", { name: "Judge" }).click();
  await sheet.getByText("Line 3:").waitFor();
  assert.deepEqual(await findings(page), []);
  // The browser itself says that the server has refused.
  assert(said.every((line) => line.includes("422")));
  said.length = 0;
  await sheet.getByLabel("Rules, as YAML or JSON").fill("rules:\n  - name: pulses are long\n    pulse: { channel: LA1, level: low, min: 1ms }\n  - name: the clock chip answers\n    i2c: { scl: LA1, sda: LA2, address: 0x68, answered: true, when: once }");
  await sheet.getByRole("button", { name: "Judge" }).click();
  await page.getByText("1 holds, 1 fails").waitFor();
  await page.getByRole("button", { name: /fails: pulses are long/ }).click();
  await page.getByText(/^Place 1 of 16/).waitFor();
  await page.waitForFunction(() => Number(new URL(location.href).searchParams.get("to")) - Number(new URL(location.href).searchParams.get("from")) < 1000);
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "viewer-rules");
  // A link has the rules with it.
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByText("1 holds, 1 fails").waitFor();
  await silent();
});

test("a good capture is laid over another one, and the first difference is named", async () => {
  const other = await capture("another boot");
  const { page, silent } = await open(`/captures/${other}`);
  await page.getByRole("button", { name: "Compare with a good capture" }).click();
  await page.getByRole("combobox", { name: "Good capture" }).selectOption({ value: stage.capture });
  await page.getByText("as in the good capture").waitFor();
  await page.waitForFunction((id) => new URL(location.href).searchParams.get("golden") === id, stage.capture);
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "viewer-golden");
  await page.getByRole("button", { name: "Stop comparing" }).click();
  await page.waitForFunction(() => !new URL(location.href).searchParams.has("golden"));
  await silent();
});

test("both lines of a serial port are a conversation", async () => {
  const form = new FormData();
  form.set("target", "target/stm32f0x.cfg");
  form.set("firmware", new Blob([readFileSync(FIRMWARE)]), "demo.elf");
  await api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state: 1 } });
  assert.equal((await api(`/bench/devices/${stage.device}/flash`, form)).ok, true);
  await api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state: 0 } });
  const { capture_id } = await api("/la/captures/start", { device_id: stage.device, samples: 4_000_000, sample_rate_mhz: 1, voltage_mv: 3300, name: "console", trigger: { channel: "LA3", edge: "falling", timeout_ms: 10_000 }, pre_samples: 1000 });
  await api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state: 1 } });
  await finished(capture_id);
  const { page, silent } = await open(`/captures/${capture_id}?decoder=${encodeURIComponent("uart:rx=LA3,tx=LA4")}`);
  await page.getByRole("tab", { name: "Conversation" }).click();
  await page.getByRole("grid", { name: "Conversation" }).getByText("I2C1 init OK").waitFor();
  await page.getByLabel("Bytes").check();
  await page.getByText("49 32 43 31 20 69 6E 69 74 20 4F 4B 0D 0A").waitFor();
  await page.getByLabel("Search annotations").fill("init OK");
  await page.waitForFunction(() => document.querySelectorAll(".talk[role=row]").length < 4);
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "viewer-conversation");
  // A decoder is changed in place.
  await page.getByRole("button", { name: "Change UART" }).click();
  await page.getByLabel("Baud rate").fill("9600");
  await page.getByRole("complementary", SIDE).getByRole("button", { name: "Change", exact: true }).click();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("decoder")?.includes("baudrate=9600"));
  await silent();
});

test("channels have labels, which links, searches and exports know", async () => {
  const id = await capture("labels", 100_000);
  const { page, silent } = await open(`/captures/${id}`);
  await page.getByRole("button", { name: "Label the channels" }).click();
  const sheet = page.getByRole("dialog", { name: "Labels of channels" });
  await sheet.getByLabel("LA1").fill(`SCL <b>`);
  await sheet.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "SCL <b>" }).waitFor();
  await page.getByLabel("What to find").fill(`rising edge on "SCL <b>"`);
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await page.getByText(/\d+ found, this is 1$/).waitFor();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("find")?.includes("SCL"));
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("dialog", { name: "Export" }).getByLabel("LA2").uncheck();
  assert.match(await page.getByRole("link", { name: "Download" }).getAttribute("href"), /channels=LA1$/);
  assert.deepEqual(await findings(page), []);
  await silent();
});

test("decoders of sigrok are stacked", async () => {
  const { page, silent } = await open("/devices");
  const list = [["i2c", "Inter-Integrated Circuit"], ["ds1307", "Dallas DS1307"]].map(([id, name]) => ({ id, name, engine: "sigrok", channels: [], options: [], classes: [], rows: [] }));
  const whole = { id: "i2c,ds1307", name: "DS1307", engine: "sigrok", channels: [{ id: "scl", name: "Clock", required: true }, { id: "sda", name: "Data", required: true }], options: [], classes: [{ id: "reg-seconds", text: "Seconds" }], rows: [{ id: "regs", text: "Registers", classes: ["reg-seconds"] }] };
  await page.route("**/api/decoders?engine=sigrok**", (route) => route.fulfill({ json: { decoders: route.request().url().includes("protocol=") ? [whole] : list } }));
  let asked = "";
  await page.route("**/decode?**engine=sigrok**", (route) => {
    asked = route.request().url();
    return route.fulfill({ contentType: "application/x-ndjson", body: `${JSON.stringify({ start: 1000, end: 5000, decoder: "ds1307-1", class: "reg-seconds", text: "Seconds: 13" })}\n` });
  });
  await page.goto(`${stage.url}/captures/${stage.capture}?decoder=`);
  await page.getByRole("button", { name: "Add decoder" }).click();
  await page.getByLabel("Protocol").selectOption({ label: "One of sigrok's, or several stacked" });
  await page.getByLabel("Decoder", { exact: true }).selectOption("i2c");
  await page.getByLabel("On top of it").selectOption("ds1307");
  await page.getByLabel("Clock").selectOption("LA1");
  await page.getByLabel("Data").selectOption("LA2");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("gridcell", { name: "Seconds: 13" }).waitFor();
  const { searchParams } = new URL(asked);
  assert.deepEqual(["protocol", "engine", "scl", "sda"].map((name) => searchParams.get(name)), ["i2c,ds1307", "sigrok", "LA1", "LA2"]);
  assert.deepEqual(await findings(page), []);
  await silent();
});
