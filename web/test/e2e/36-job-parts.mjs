// A job of the demo bench, seen from all sides: its timeline, cases, artifacts, measurements; and a pipeline that is written here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, findings, looks, open, screenshot, stage } from "../stage.mjs";

const PIPELINE = `version: 1
name: seen from all sides
benches:
  - id: smoke
    device: { name: demo }
    steps:
      - power: { rail: internal, state: on }
      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 1MHz, samples: 300000 }
        id: boot
      - decode: { on: boot, decoder: i2c }
      - measure: { on: boot, name: clock low, channel: scl, quantity: low_s.min, low: 4e-6 }
        case: the clock is not too fast
      - assert: { on: boot, decode: i2c, address: 0x11, ack: true }
        case: the missing chip answers
    always:
      - power: { rail: internal, state: off }
`;

let job;

test("a pipeline is checked while it is written, and submitted", async () => {
  const { page, silent, said } = await open("/jobs/submit");
  const editor = page.getByLabel("Pipeline", { exact: true });
  await page.getByText("No mistakes").waitFor();
  await editor.fill(PIPELINE.replace("steps:", "stps:"));
  await page.getByText("1 problem").waitFor();
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "job-submit-wrong");
  await page.getByRole("button", { name: /^Line 6 .*stps/ }).click();
  assert.equal(await editor.evaluate((area) => area.value.slice(0, area.selectionStart).split("\n").length), 6);
  // What a schema cannot say.
  await editor.fill(PIPELINE.replace("on: boot, decoder", "on: bot, decoder"));
  await page.getByRole("button", { name: /^Line 10 / }).waitFor();
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByRole("button", { name: /^Line 10 / }).waitFor();
  // Keys that may stand where the caret is.
  await page.getByRole("button", { name: /^Line 10 / }).click();
  await page.getByRole("heading", { name: "benches.steps.decode" }).waitFor();
  assert(said.every((line) => line.includes("422")));
  said.length = 0;
  await editor.fill(PIPELINE);
  await page.getByText("It comes to 1 run: smoke.").waitFor();
  await page.getByRole("button", { name: "Submit" }).click();
  await page.waitForURL(/\/jobs\/[0-9A-Z]{26}$/);
  job = new URL(page.url()).pathname.split("/").at(-1);
  await page.getByText("Failed", { exact: true }).waitFor({ timeout: 60_000 });
  await silent();
});

test("cases: what failed comes first, and its capture opens at its step", async () => {
  const { page, silent } = await open(`/jobs/${job}?view=cases`);
  await page.getByRole("rowheader").first().getByText("the missing chip answers").waitFor();
  await page.getByLabel("Outcome").selectOption("passed");
  await page.getByRole("rowheader", { name: /the clock is not too fast/ }).waitFor();
  assert.equal(await page.getByRole("rowheader").count(), 1);
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "job-cases");
  await page.getByRole("link", { name: "boot" }).click();
  await page.getByRole("heading", { name: "smoke: boot" }).waitFor();
  await page.getByRole("tab", { name: /^Steps smoke/ }).waitFor();
  await silent();
});

test("a timeline has steps, captures and rails on one axis", async () => {
  const { page, silent } = await open(`/jobs/${job}`);
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.getByRole("tab", { name: /^smoke/ }).waitFor();
  await page.getByRole("button", { name: "demo internal V" }).waitFor();
  await page.getByRole("gridcell", { name: "the missing chip answers" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "job-timeline");
  await page.getByRole("region", { name: "Captures" }).getByRole("button").click();
  await page.waitForFunction(() => new URL(location.href).searchParams.has("to"));
  await page.getByRole("link", { name: "Open" }).click();
  await page.getByRole("heading", { name: "smoke: boot" }).waitFor();
  await silent();
});

test("artifacts, measurements and why", async () => {
  const { page, silent } = await open(`/jobs/${job}?view=artifacts`);
  await page.getByRole("link", { name: "decoded/step-3.txt" }).waitFor();
  await page.getByRole("link", { name: "boot.sr" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await page.getByRole("link", { name: "Why" }).click();
  await page.getByRole("region", { name: "Why" }).getByText(/0x11/).first().waitFor();
  await page.getByRole("link", { name: /^Measurements/ }).click();
  await page.getByText("at least 4 µs").waitFor();
  await page.getByRole("link", { name: "clock low" }).click();
  await page.getByRole("img", { name: /^1 value/ }).waitFor();
  await page.getByText("within").waitFor();
  await silent();
});

test("measurements are narrowed by the address", async () => {
  const { page, silent } = await open("/measurements?device=demo");
  await page.getByRole("link", { name: "clock low" }).waitFor();
  await page.getByLabel("Since").fill("2100-01-01");
  await page.getByRole("heading", { name: "No values fit" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await silent();
});

for (const [colorScheme, width] of looks)
    test(`pages of jobs: no finding of axe, ${colorScheme}, ${width} px`, async () => {
      for (const [name, path] of [["submit", "/jobs/submit"], ["submit-sources", "/jobs/submit?with=sources"], ["measurements", "/measurements"], ["measurement", "/measurements?name=clock+low"], ["timeline", `/jobs/${job}/timeline`], ["cases", `/jobs/${job}?view=cases`], ["measured", `/jobs/${job}?view=measured`]]) {
        const { page, silent } = await open(path, { colorScheme, viewport: { width, height: width < 640 ? 844 : 900 } });
        await page.locator("main h1").waitFor();
        await page.waitForTimeout(800);
        await screenshot(page, `job-${name}-${width}-${colorScheme}`);
        assert.deepEqual(await findings(page), [], path);
        assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} is wider than the screen`);
        await silent();
      }
    });

test("a page of measurements that fails says so and tries again", async () => {
  const { page, context } = await open("/devices");
  let fails = true;
  await page.route("**/api/measurements*", (route) => (fails ? route.fulfill({ status: 503, json: { error: "the store is out of service", code: "store_failed", request_id: "abc123" } }) : route.continue()));
  await page.goto(`${stage.url}/measurements`);
  await page.getByRole("alert").getByText("The store is out of service.").waitFor();
  fails = false;
  // It may be read again by itself just now.
  await page.getByRole("button", { name: "Try again" }).click({ timeout: 1000 }).catch(() => undefined);
  await page.getByRole("link", { name: "clock low" }).waitFor();
  await context.close();
});
