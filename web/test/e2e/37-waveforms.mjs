// Waveforms: made of parts, of a file and of a capture, previewed, played on an output of the demo bench and stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, findings, finished, open, screenshot, stage } from "../stage.mjs";

const known = async (name) => (await api("/bench/waveforms")).waveforms.find((one) => one.name === name);

/** A capture of the 5 V output, which the demo bench leads back to an input. */
async function look() {
  const { capture_id } = await api("/scope/captures/start", { device_id: stage.device, samples: 40_000, sample_rate_mhz: 0.4, source: "cal1", name: "the output" });
  return finished(capture_id);
}

/** From the lowest to the highest level of it, in volts. */
async function swing(id) {
  const response = await fetch(`${stage.hostd.url}/api/capture/${id}/export?format=csv&content=analog`, { headers: { authorization: `ApiKey ${stage.hostd.apiKey}` } });
  const levels = (await response.text()).trim().split("\n").slice(1, 40_001).map((line) => Number(line.split(",").at(-1)));
  return Math.max(...levels) - Math.min(...levels);
}

/** The colours of the plot besides the one that most of it has: something is drawn. */
const drawn = (page) => page.locator(".preview canvas").first().evaluate((canvas) => {
  const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  [copy.canvas.width, copy.canvas.height] = [canvas.width, canvas.height];
  copy.drawImage(canvas, 0, 0);
  const counts = new Map();
  for (const pixel of new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer)) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return canvas.width * canvas.height - Math.max(...counts.values());
});

test("a waveform is made of ramps and steps, and previewed on outputs", async () => {
  const { page, silent } = await open("/waveforms");
  await page.getByRole("button", { name: "Make one" }).click();
  await page.getByLabel("Name").fill("dip");
  await page.getByLabel("Milliseconds of part 1").fill("20");
  await page.getByLabel("Level at the start of part 1").fill("3");
  await page.getByLabel("Level at the end of part 1").fill("0.5");
  await page.getByRole("button", { name: "Another part" }).click();
  await page.getByLabel("Milliseconds of part 2").fill("30");
  assert.equal(await page.getByLabel("Level at the start of part 2").inputValue(), "0.5");
  assert.deepEqual(await findings(page), []);
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("heading", { name: "dip" }).waitFor();
  await page.getByText("0.500 to 3.000 V").waitFor();
  await page.waitForFunction(() => document.querySelector(".preview canvas")?.width > 300);
  await page.waitForTimeout(200);
  assert((await drawn(page)) > 300);
  assert.equal((await known("dip")).dac_path, "3v3");
  await page.getByLabel("Output").selectOption("12v");
  await page.getByText("-12.00 to 12.00 V").waitFor();
  await page.getByLabel("Levels").selectOption("fit");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("levels") === "fit");
  await page.getByText("-12.000 to 12.000 V").waitFor();
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "waveform-fit");
  await silent();
});

test("a file with levels becomes a waveform, and its samples are what was in it", async () => {
  const { page, silent } = await open("/waveforms?sheet=make");
  await page.getByRole("tab", { name: "A file" }).click();
  await page.getByLabel("Name").fill("from a file");
  await page.getByLabel("Choose a file").setInputFiles({ name: "levels.csv", mimeType: "text/csv", buffer: Buffer.from("time,volts\n0,0\n1,1.65\n2,3.3\n") });
  await page.getByText("levels.csv: 3 levels").waitFor();
  await page.getByLabel("Samples a second").fill("1000");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("heading", { name: "from a file" }).waitFor();
  const { id, sample_count, sample_rate_hz } = await known("from a file");
  assert.deepEqual([sample_count, sample_rate_hz], [3, 1000]);
  await page.getByText("0.000 to 3.300 V").waitFor();
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
  assert.equal(saved.suggestedFilename(), "from a file.u16");
  await silent();
  await api(`/bench/waveforms/${id}`, undefined, { method: "DELETE" });
});

test("a file without a number is refused in words", async () => {
  const { page, silent } = await open("/waveforms?sheet=make");
  await page.getByRole("tab", { name: "A file" }).click();
  await page.getByLabel("Name").fill("nothing");
  await page.getByLabel("Choose a file").setInputFiles({ name: "x.csv", mimeType: "text/csv", buffer: Buffer.from("hello\nworld\n") });
  await page.getByText("x.csv: no line ends with a number").waitFor();
  assert(await page.getByRole("button", { name: "Make it" }).isDisabled());
  await silent();
});

test("a waveform is played on an output, and stopped", async () => {
  const { page, silent } = await open("/waveforms");
  await page.getByRole("navigation", { name: "All waveforms" }).getByRole("link", { name: "dip" }).click();
  await page.getByLabel("Output").selectOption("5v");
  await page.getByRole("button", { name: "Play" }).click();
  const sheet = page.getByRole("dialog", { name: "Play dip" });
  await sheet.getByLabel("Device").locator("option", { hasText: "demo" }).waitFor({ state: "attached" });
  await sheet.getByText("It is played on the 5 V output").waitFor();
  assert.deepEqual(await findings(page), []);
  await sheet.getByRole("button", { name: "Play" }).click();
  await sheet.getByText("It plays.").waitFor();
  await screenshot(page, "waveform-plays");
  stage.played = await look();
  const playing = await swing(stage.played);
  assert(playing > 2.2 && playing < 2.8, `it plays ${playing} V`);
  await sheet.getByRole("button", { name: "Stop" }).click();
  await page.getByText("It has stopped").waitFor();
  const still = await swing(await look());
  assert(still < 0.2, `it still plays ${still} V`);
  await sheet.getByRole("button", { name: "Close" }).first().click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByLabel("Type “dip” to confirm").fill("dip");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("link", { name: "dip" }).waitFor({ state: "detached" });
  assert.equal(await known("dip"), undefined);
  await silent();
});

test("a lane of a capture becomes a waveform", async () => {
  const { page, silent } = await open("/waveforms?sheet=make");
  await page.getByRole("tab", { name: "A capture" }).click();
  await page.getByLabel("Name").fill("as it was");
  await page.getByLabel("Lane").selectOption({ label: await page.getByLabel("Lane").locator("option", { hasText: "the output" }).first().textContent() });
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("heading", { name: "as it was" }).waitFor();
  const { id, sample_count } = await known("as it was");
  assert.equal(sample_count, 40_000);
  await silent();
  await api(`/bench/waveforms/${id}`, undefined, { method: "DELETE" });
});
