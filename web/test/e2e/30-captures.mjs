// Captures: started, imported, looked at, measured, searched, marked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, capture, findings, made, open, screenshot, stage } from "../stage.mjs";

const member = (page, name) => page.evaluate((one) => new URL(location.href).searchParams.get(one), name);

test("a capture is started from its sheet, seen live, and opened", async () => {
  const { page, silent } = await open("/captures?sheet=start");
  const sheet = page.getByRole("dialog", { name: "Start a capture" });
  await sheet.getByLabel("Name").fill("from the sheet");
  await sheet.getByLabel("Length").selectOption({ label: "2 s" });
  await sheet.getByRole("button", { name: "Start" }).click();
  await page.waitForURL("**/captures/live?*");
  await page.getByRole("link", { name: "Open the capture" }).click({ timeout: 30_000 });
  await page.getByRole("heading", { name: "from the sheet" }).waitFor();
  await page.getByText("2 000 000 samples").waitFor();
  await silent();
});

test("a file of another tool becomes a capture", async () => {
  const { page, silent } = await open("/captures?sheet=import");
  const csv = ["time_s,CLK,DATA", ...Array.from({ length: 200 }, (_, i) => `${i / 1000},${i % 2},${(i >> 1) % 2}`)].join("\n");
  await page.getByLabel("Choose a file").setInputFiles({ name: "two lanes.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.getByRole("button", { name: "Import", exact: true }).last().click();
  await page.getByRole("heading", { name: "two lanes" }).waitFor();
  await page.getByRole("button", { name: "CLK" }).waitFor();
  await silent();
});

test("a capture is decoded, and a row of the table leads to its place", async () => {
  const { page, silent } = await open(`/captures/${stage.capture}`);
  await page.getByText("Address write: 68").first().waitFor();
  await page.getByLabel("Search annotations").fill("NACK");
  await page.getByText(/^\d+ found$/).waitFor();
  await page.getByRole("row").first().click();
  await page.waitForFunction(() => Number(new URL(location.href).searchParams.get("to")) - Number(new URL(location.href).searchParams.get("from")) < 1000);
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "viewer-decoded");
  // The same with the keyboard.
  const before = await member(page, "from");
  await page.getByRole("grid", { name: "Annotations" }).focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => new URL(location.href).searchParams.get("from") !== old, before);
  await silent();
});

test("cursors snap to edges, and what lies between them is measured", async () => {
  const { page, silent } = await open(`/captures/${stage.capture}?from=6200&to=6400&a=6257&b=6347`);
  await page.getByText("90 µs").waitFor();
  await page.getByText(/^\d+ ↑ \d+ ↓$/).waitFor();
  const plot = page.getByRole("application");
  const { x, width } = await plot.boundingBox();
  const lane = await page.getByRole("button", { name: "LA2" }).boundingBox();
  // SDA falls at sample 6257, where the bus begins to speak: a click three pixels beside it finds exactly that one.
  await page.mouse.click(x + ((6257 - 6200) / 200) * width + 3, lane.y + lane.height / 2);
  await page.waitForFunction(() => new URL(location.href).searchParams.get("a") === "6257");
  await plot.press("n");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("from") !== "6200");
  await silent();
});

test("a search finds places in the whole capture, and a query that is wrong says where", async () => {
  const { page, context } = await open(`/captures/${stage.capture}`);
  const words = page.getByLabel("What to find");
  await words.fill("i2c nack");
  await words.press("Enter");
  await page.getByText(/found, this is 1$/).waitFor();
  const before = await member(page, "from");
  await page.getByRole("button", { name: "Next place" }).click();
  await page.getByText(/found, this is 2$/).waitFor();
  await page.waitForFunction((old) => new URL(location.href).searchParams.get("from") !== old, before);
  await words.fill("pulse in LA1");
  await words.press("Enter");
  await page.getByRole("alert").waitFor();
  await context.close();
});

test("a marker is kept on the capture, for everybody", async () => {
  const { page, silent } = await open(`/captures/${stage.capture}?from=6000&to=7000`);
  await page.getByRole("application").press("m");
  await page.getByLabel("Note").fill("here it <b>begins</b>");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: /here it <b>begins<\/b>/ }).first().waitFor();
  assert.equal((await api(`/capture/${stage.capture}?frames=none`)).markers.length, 1);
  await page.reload();
  await page.getByRole("button", { name: "Remove the marker here it <b>begins</b>" }).click();
  await page.getByText("M sets one at the pointer").waitFor();
  assert.equal((await api(`/capture/${stage.capture}?frames=none`)).markers.length, 0);
  await silent();
});

test("a link shows what its sender saw", async () => {
  const { page, silent } = await open(`/captures/${stage.capture}?from=6200&to=6800&a=6257&b=6347&lane=1&decoder=${encodeURIComponent("i2c:scl=LA1,sda=LA2")}`);
  await page.getByText("600 µs").waitFor();
  await page.getByText("90 µs").waitFor();
  assert.equal(await page.getByRole("button", { name: "LA2" }).getAttribute("aria-pressed"), "true");
  await silent();
});

test("a capture is deleted by its name, and not by another one", async () => {
  const id = await capture("old one", 1000);
  const { page, silent } = await open(`/captures/${id}`);
  await page.getByRole("button", { name: "Delete" }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByRole("textbox").fill("old");
  assert(await sheet.getByRole("button", { name: "Delete" }).isDisabled());
  await sheet.getByRole("textbox").fill("old one");
  await sheet.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL("**/captures");
  assert.equal(await page.getByRole("link", { name: "old one" }).count(), 0);
  await silent();
});

test("names from outside are text, never markup", async () => {
  const hostile = `"><img src=x onerror=alert(1)>`;
  await capture(hostile, 1000);
  const { page, silent } = await open("/captures");
  await page.getByRole("link", { name: hostile }).click();
  await page.getByRole("heading", { name: hostile }).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  await silent();
});

test("a capture of a billion samples is zoomed into to the sample", async () => {
  const server = await made();
  const { page, silent } = await open("/sign-in");
  await page.goto(`${server.url}/captures/synthetic?decoder=${encodeURIComponent("i2c:scl=SCL,sda=SDA")}`);
  const plot = page.getByRole("application");
  const { x, width } = await plot.boundingBox();
  await page.getByText("130\u202f000").first().waitFor({ timeout: 20_000 });
  const lane = await page.getByRole("button", { name: "PGOOD" }).boundingBox();
  const y = lane.y + lane.height / 2;
  const seen = () => page.evaluate(() => ["from", "to", "a"].map((name) => Number(new URL(location.href).searchParams.get(name))));
  // The instant under the pointer stays there.
  const rise = Math.round(x + 0.0812 * width);
  await page.mouse.move(rise, y);
  for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -400);
  await page.waitForFunction(() => new URL(location.href).searchParams.has("to"));
  await page.waitForTimeout(500);
  const [from, to] = await seen();
  assert(to - from < 5e7, `${from} ${to}`);
  const before = ((rise - x) / width) * 1e9;
  assert(Math.abs(from + ((rise - x) / width) * (to - from) - before) < 2 * (1e9 / width), `${from} ${to} ${before}`);
  // Power is good from sample 81 234 567 on: a click three pixels beside it finds exactly that one.
  await page.mouse.click(x + ((81_234_567 - from) / (to - from)) * width + 3, y);
  await page.waitForFunction(() => new URL(location.href).searchParams.get("a") === "81234567");
  await screenshot(page, "viewer-billion");
  await silent();
  server.stop();
});

test("of more events than a page keeps, those that are seen are read", async () => {
  const { page, silent } = await open("/sign-in");
  // A decoder that has said as much as a page keeps before half of the capture is over.
  const much = Array.from({ length: 400_000 }, (_, i) => `{"start":${i},"end":${i + 1},"class":"data-read","text":"Data read: 00"}`).join("\n");
  await page.route("**/decode?*", (route) => {
    const asked = new URL(route.request().url()).searchParams;
    return asked.has("from") ? route.continue() : route.fulfill({ status: 200, contentType: "application/x-ndjson", body: much });
  });
  await page.goto(`${stage.url}/captures/${stage.capture}?from=500000&to=530000`);
  await page.getByText("of later ones, those that are seen are read").waitFor({ timeout: 60_000 });
  await page.getByText(/^0\.5[0-2]\d/).first().waitFor();
  await page.getByText("Address write: 68").first().waitFor();
  await silent();
});

test("what a slow link lost is hatched, named and listed", async () => {
  const { page, silent } = await open("/captures");
  await page.route(`**/api/capture/${stage.capture}?frames=none`, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), gaps: [{ from: 100_000, to: 200_000 }] } });
  });
  await page.goto(`${stage.url}/captures/${stage.capture}`);
  await page.getByText("1 gap", { exact: true }).waitFor();
  const lane = await page.getByRole("button", { name: /^LA2/ }).boundingBox();
  const { x, width } = await page.getByRole("application").boundingBox();
  await page.mouse.move(x + 0.15 * width, lane.y + lane.height / 2);
  await page.getByRole("button", { name: "LA2 ?" }).waitFor();
  // Its colour is nowhere else in the waves, so it is seen in the pixels.
  const hatched = await page.evaluate(() => {
    const canvas = document.querySelector(".plot canvas");
    const row = canvas.getContext("2d").getImageData(0, canvas.height - 20, canvas.width, 1).data;
    return new Set(Array.from({ length: canvas.width }, (_, i) => row.slice(4 * i, 4 * i + 3).join()).slice(Math.round(canvas.width * 0.11), Math.round(canvas.width * 0.19))).size;
  });
  assert.equal(hatched, 2);
  await page.getByRole("region", { name: "Lost samples" }).getByRole("button").click();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("to") === "800000");
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "viewer-gap");
  await silent();
});

test("a capture begins at what a decoder sees, and that is time 0 everywhere", async () => {
  const { page, silent } = await open("/captures?sheet=start");
  const sheet = page.getByRole("dialog", { name: "Start a capture" });
  await sheet.getByLabel("What").selectOption({ label: "An I²C bus" });
  await sheet.getByLabel("Name").fill("at the clock");
  await sheet.getByLabel("SCL").selectOption({ value: "1" });
  await sheet.getByLabel("SDA").selectOption({ value: "2" });
  await sheet.getByLabel("Begin").selectOption({ label: "At an I²C address" });
  await sheet.getByLabel("Address").fill("99");
  await sheet.getByRole("button", { name: "Start" }).click();
  await sheet.getByText("Seven bits in hexadecimal").waitFor();
  await sheet.getByLabel("Address").fill("68");
  await sheet.getByLabel("Before the trigger").selectOption({ value: "0.25" });
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "capture-start-trigger");
  await sheet.getByRole("button", { name: "Start" }).click();
  await page.getByText("Address write: 68").first().waitFor({ timeout: 30_000 });
  const { trigger_sample: trigger } = await api(`/capture/${new URL(page.url()).pathname.split("/").at(-1)}?frames=none`);
  assert(trigger > 0, `${trigger}`);
  // A cursor at the trigger is at time 0, in the panel and in a link.
  await page.goto(`${page.url().split("?")[0]}?from=${trigger - 1000}&to=${trigger + 1000}&a=${trigger}`);
  await page.getByRole("region", { name: "Measurements" }).getByText("0.000\u202f000 s").waitFor();
  await page.getByRole("gridcell", { name: /^-0\.000/ }).first().waitFor();
  // On the live page as soon as the capture is done, and in the same place.
  await page.goto(`${stage.url}/captures/live?device=${stage.device}`);
  await page.getByText("Waiting for a capture").waitFor();
  const again = await api("/la/captures/start", { device_id: stage.device, samples: 400_000, sample_rate_mhz: 1, channels: ["LA1", "LA2"], voltage_mv: 3300, pre_samples: 100_000, trigger: { protocol: "i2c", scl: "LA1", sda: "LA2", address: "0x68", timeout_ms: 20_000 } });
  await page.getByRole("link", { name: "Open the capture" }).waitFor({ timeout: 30_000 });
  const met = (await api(`/capture/${again.capture_id}?frames=none`)).trigger_sample;
  await page.getByRole("application").press("1");
  const middle = await page.getByRole("region", { name: "Measurements" }).locator("dd").first().textContent();
  const seconds = Number(middle.replaceAll("\u202f", "").replace(" s", ""));
  // The whole of it is seen, so a cursor without a pointer is in its middle, at an edge or not.
  const { samples } = (await api(`/capture/${again.capture_id}?frames=none`)).channels[0];
  assert(Math.abs(seconds * 1e6 - (samples / 2 - met)) < 0.02 * samples, `${middle} ${samples} ${met}`);
  await silent();
});

test("triggers of every kind are taken by the server", async () => {
  const conditions = {
    "At a pulse, by its length": (sheet) => sheet.getByLabel("a time of").fill("1 s"),
    "When a level was held for a time": (sheet) => sheet.getByLabel("for", { exact: true }).fill("1 ms"),
    "When several lanes have their levels": (sheet) => sheet.getByLabel(/^LA2/).last().selectOption("high"),
    "At bytes on a UART": (sheet) => sheet.getByLabel("Bytes").fill("41 50 ?? 5f"),
  };
  for (const [name, fill] of Object.entries(conditions)) {
    const { page, silent } = await open("/captures?sheet=start");
    const sheet = page.getByRole("dialog", { name: "Start a capture" });
    await sheet.getByLabel("Begin").selectOption({ label: name });
    await fill(sheet);
    await sheet.getByLabel("Give up after").fill("0.1");
    await screenshot(page, `capture-start-${name.split(" ")[2]}`);
    await sheet.getByRole("button", { name: "Start" }).click();
    await page.waitForURL("**/captures/live?*");
    await silent();
    for (;;) {
      const [newest] = (await api("/captures?limit=1")).captures;
      if (!["pending", "armed", "running"].includes(newest.status)) break;
      await new Promise((later) => setTimeout(later, 100));
    }
  }
});

test("a capture is decoded while it arrives", async () => {
  const start = (name, samples) => api("/analyzer/captures/start", { device_id: stage.device, samples, sample_rate_mhz: 1, scl: "LA1", sda: "LA2", voltage_mv: 3300, name });
  // Longer than the pod's memory, so that it is sent while it is taken.
  const { capture_id: long } = await start("seen live", 9_000_000);
  const { page, silent } = await open(`/captures/live?device=${stage.device}`);
  await page.getByRole("button", { name: "Add decoder" }).click({ timeout: 20_000 });
  await page.getByLabel(/clock line/i).selectOption("LA1");
  await page.getByLabel(/data line/i).selectOption("LA2");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText(/^(Data read|Address write): /).first().waitFor({ timeout: 20_000 });
  assert.equal((await api(`/capture/${long}?frames=none`)).status, "running");
  await screenshot(page, "live-decoded");
  // The table stays at the newest, whose time grows.
  const newest = async () => Number.parseFloat((await page.getByRole("row").last().getByRole("gridcell").first().textContent()).replaceAll("\u202f", ""));
  const before = await newest();
  await page.waitForFunction((then) => Number.parseFloat([...document.querySelectorAll('[role=row] [role=gridcell]:first-child')].at(-1).textContent.replaceAll("\u202f", "")) > then + 0.5, before, { timeout: 20_000 });
  await page.getByRole("link", { name: "Open the capture" }).waitFor({ timeout: 30_000 });
  const told = await page.getByRole("tab", { name: /^I²C/ }).textContent();
  // The next capture has the same decoder, and so has the stored one: as many annotations as were seen.
  await page.getByRole("link", { name: "Open the capture" }).click();
  await page.getByRole("heading", { name: "seen live" }).waitFor();
  await page.waitForFunction((text) => [...document.querySelectorAll("[role=tab]")].some((tab) => tab.textContent === text), told);
  await page.goBack();
  await start("seen, too", 1_000_000);
  await page.getByText(/^(Data read|Address write): /).first().waitFor({ timeout: 20_000 });
  assert.deepEqual(await findings(page), []);
  await silent();
});

test("what registers of parts hold is shown at the cursor", async () => {
  const { page, silent } = await open(`/captures/${stage.capture}`);
  await page.getByRole("button", { name: "Add decoder" }).click();
  await page.getByLabel("Protocol").selectOption({ label: "I²C, registers of parts" });
  await page.getByLabel(/clock line/i).selectOption("LA1");
  await page.getByLabel(/data line/i).selectOption("LA2");
  await page.getByLabel("Parts on the bus").fill("ds1307");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("tab", { name: "What registers hold" }).click();
  await page.getByRole("row", { name: /hours = 0x/ }).waitFor();
  await page.getByText("before the end of the view").waitFor();
  assert.deepEqual(await findings(page), []);
  await page.getByRole("row", { name: /hours = 0x/ }).click();
  await page.waitForFunction(() => Number(new URL(location.href).searchParams.get("to")) > 0);
  // At the very beginning nothing was read yet.
  await page.getByRole("application").press("Home");
  await page.getByRole("application").press("1");
  await page.getByText("before cursor A").waitFor();
  await screenshot(page, "viewer-registers");
  await silent();
});
