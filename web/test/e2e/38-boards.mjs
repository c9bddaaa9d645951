// Boards: one is sent, its picture drawn, findings chosen in step with the table, looked at layer by layer, compared with a later version.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BOARD, api, findings, looks, open, screenshot, stage } from "../stage.mjs";

/** How many pixels of the picture, of a copy that may be read often, have the colour of a token, within a little. */
const inked = (page, token) => page.locator("canvas").evaluate((canvas, name) => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  probe.fillStyle = getComputedStyle(canvas).getPropertyValue(name);
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  [probe.canvas.width, probe.canvas.height] = [canvas.width, canvas.height];
  probe.drawImage(canvas, 0, 0);
  const { data } = probe.getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 24) found++;
  return found;
}, token);

/** The colour of a place of the board, in millimetres from its top left as KiCad has them, while the whole board is seen. */
const at = (page, x, y) => page.locator("canvas").evaluate((canvas, [px, py]) => {
  const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  [copy.canvas.width, copy.canvas.height] = [canvas.width, canvas.height];
  copy.drawImage(canvas, 0, 0);
  const scale = 0.92 * Math.min(canvas.width / 60, canvas.height / 40);
  return [...copy.getImageData(Math.round(canvas.width / 2 + (px - 30) * scale), Math.round(canvas.height / 2 + (py - 20) * scale), 1, 1).data];
}, [x, y]);

let address;

test("a board is sent and analysed, and its copper is drawn with marks", async () => {
  const { page, silent } = await open("/boards");
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByLabel("Name").fill("slotted");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("heading", { name: "No board in this project" }).waitFor();
  await page.getByRole("button", { name: "Send a board" }).click();
  await page.getByLabel("Choose a board").setInputFiles(BOARD);
  await page.getByRole("button", { name: "Send and analyse" }).click();
  await page.getByRole("img", { name: /^The board with its findings/ }).waitFor({ timeout: 60_000 });
  await page.getByRole("table", { name: "Findings" }).waitFor();
  address = new URL(page.url()).pathname;
  await page.waitForFunction(() => document.querySelector("canvas").width > 300);
  // The clock on the top layer, the slot through which nothing of the plane is seen, the plane beside it, nothing beside the board.
  const [track, slot, plane, outside] = [await at(page, 15, 20), await at(page, 30, 28), await at(page, 20, 28), await at(page, -1, 20)];
  for (const [one, other] of [[track, plane], [slot, plane], [slot, outside], [plane, outside]]) assert.notDeepEqual(one, other, `${one} and ${other}`);
  assert.deepEqual(await at(page, 45, 28), plane);
  assert((await inked(page, "--warn")) > 100);
  assert((await inked(page, "--info")) > 50);
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "board-drawn");
  // A layer that is left out is not seen: with both planes gone, the place beside the slot is as the slot is without them.
  for (const layer of ["In1.Cu", "In2.Cu"]) await page.getByLabel(layer).uncheck();
  await page.waitForTimeout(100);
  assert.deepEqual(await at(page, 20, 28), await at(page, 30, 28));
  const alone = await at(page, 15, 20);
  assert(track.every((level, i) => Math.abs(level - alone[i]) < 60), `${alone} is the track, as ${track} was`);
  await silent();
});

test("a finding is chosen in the table and in the picture, in step, and stands in the address", async () => {
  const { page, silent } = await open(address);
  const table = page.getByRole("table", { name: "Findings" });
  await table.getByRole("button", { name: /crosses a gap/ }).click();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("finding"));
  await table.locator('[aria-current="true"]', { hasText: "plane-gap" }).waitFor();
  const first = new URL(page.url()).searchParams.get("finding");
  const canvas = page.locator("canvas");
  const { width, height } = await canvas.boundingBox();
  await screenshot(page, "board-finding");
  await page.getByRole("button", { name: "The whole board" }).click();
  await page.waitForTimeout(100);
  // The mark of the net LED is at (30, 35), 15 mm below the middle.
  const scale = 0.92 * Math.min(width / 60, height / 40);
  await canvas.click({ position: { x: width / 2, y: height / 2 + 15 * scale } });
  await table.locator('[aria-current="true"]', { hasText: "LED" }).waitFor();
  assert.notEqual(new URL(page.url()).searchParams.get("finding"), first);
  await page.reload();
  await table.locator('[aria-current="true"]', { hasText: "LED" }).waitFor();
  await page.getByLabel("Filter findings").fill("stitching");
  await table.getByRole("button", { name: /crosses a gap/ }).waitFor({ state: "detached" });
  await silent();
});

test("findings are chosen with the keyboard alone", async () => {
  const { page, silent } = await open(address);
  const button = page.getByRole("table", { name: "Findings" }).getByRole("button").first();
  await button.focus();
  await page.keyboard.press("Enter");
  await page.locator('tr[aria-current="true"]').waitFor();
  await silent();
});

test("a later version is compared with the one before", async () => {
  const { page, silent } = await open(address);
  await page.getByRole("button", { name: "Send a board" }).click();
  // Half of the vias that hold the planes together are gone.
  const text = readFileSync(BOARD, "utf8").split("\n").filter((line, i) => !(line.includes("(via") && i % 2 === 1)).join("\n");
  await page.getByLabel("Choose a board").setInputFiles({ name: "slot.kicad_pcb", mimeType: "application/octet-stream", buffer: Buffer.from(text) });
  await page.getByRole("button", { name: "Send and analyse" }).click();
  const versions = page.getByLabel("Compared with");
  await versions.waitFor({ timeout: 60_000 });
  await page.getByRole("table", { name: "Findings" }).waitFor({ timeout: 60_000 });
  await versions.selectOption({ index: 1 });
  await page.getByText(/^\d+ new, \d+ gone, \d+ as before$/).waitFor();
  await page.getByRole("cell", { name: "New", exact: true }).first().waitFor();
  await page.getByRole("cell", { name: "as before" }).first().waitFor();
  const { summary } = await api(`/emi/boards/${(await api(`/emi/projects/${address.split("/").at(-1)}/runs`)).runs[0].board_id}/diff?against=${new URL(page.url()).searchParams.get("against")}`);
  assert.equal(await page.getByRole("table", { name: "Gone" }).getByRole("rowheader").count(), summary.gone.warning + summary.gone.critical + summary.gone.info);
  assert.deepEqual(await findings(page), []);
  address = page.url().slice(stage.url.length);
  await silent();
});

for (const [colorScheme, width] of looks)
  test(`a compared board, ${colorScheme}, ${width} px`, async () => {
    const { page, silent } = await open(address, { colorScheme, viewport: { width, height: 844 } });
    await page.getByRole("table", { name: "Gone" }).waitFor();
    assert.deepEqual(await findings(page), []);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await screenshot(page, `board-compared-${width}-${colorScheme}`);
    await silent();
  });

test("a board that cannot be read says why, and can be run again", async () => {
  const { page, silent } = await open("/boards?sheet=project");
  await page.getByLabel("Name").fill("broken");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("button", { name: "Send a board" }).click();
  await page.getByLabel("Choose a board").setInputFiles({ name: "x.kicad_pcb", mimeType: "application/octet-stream", buffer: Buffer.from("(kicad_pcb (version 20250926) (oops") });
  await page.getByRole("button", { name: "Send and analyse" }).click();
  await page.getByRole("heading", { name: "It failed" }).waitFor({ timeout: 60_000 });
  await page.getByRole("button", { name: "Run it again" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await page.getByRole("button", { name: "Delete the project" }).click();
  await page.getByLabel("Type “broken” to confirm").fill("broken");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("link", { name: "slotted" }).waitFor();
  await silent();
});
