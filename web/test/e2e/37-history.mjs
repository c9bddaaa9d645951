// How test cases went in the last jobs. A real job's, and a history of two devices, which is played here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, findings, looks, open, screenshot, stage } from "../stage.mjs";

const [ONE, TWO] = ["01M8GYDDDDDDDDDDDDDDDDDDD1", "01M8GYDDDDDDDDDDDDDDDDDDD2"];
const HOSTILE = "<img src=x onerror=alert(1)>";

function played(name, words, more = {}) {
  const runs = words.split(" ").map((word, i) => ({ outcome: { p: "passed", f: "failed", b: "broken", s: "skipped" }[word[0]], device: word[1] === "1" ? ONE : TWO, job: `01M8GYJJJJJJJJJJJJJJJJJJ${10 + i}`, commit: `${100 + i}0123456789abcdef`, created_at: `2026-11-2${8 - (i % 5)}T10:00:00Z` }));
  const of = (outcome, device) => runs.filter((run) => run.outcome === outcome && (!device || run.device === device)).length;
  const devices = [[ONE, "bench-1"], [TWO, "bench-2"]].map(([device, title]) => ({ device, name: title, passed: of("passed", device), failed: of("failed", device), broken: of("broken", device) }));
  return { run: "smoke.f0", name, runs, passed: of("passed"), failed: of("failed"), broken: of("broken"), skipped: of("skipped"), flaky_rate: null, first_bad: null, devices, ...more };
}

const cases = [
  played("the sensor answers", "f1 f2 f1 b2 p2 p1 p2 p1 p2 p1", { first_bad: { job: "01M8GYJJJJJJJJJJJJJJJJJJ12", name: "nightly", ref: "main", commit: "1020123456789abcdef" } }),
  played(`boots in time ${HOSTILE}`, "p1 f2 p1 f2 p1 f2 p1 s2", { flaky_rate: 0.75 }),
  played(null, Array.from({ length: 50 }, (_, i) => (i % 17 === 3 ? "b1" : "p2")).join(" ")),
];

for (const [colorScheme, width] of looks)
  test(`cases of two devices tell whose fault it is, ${colorScheme}, ${width} px`, async () => {
    const { page, silent } = await open("/sign-in", { colorScheme, viewport: { width, height: 900 } });
    await page.route("**/api/jobs/cases*", (route) => route.fulfill({ json: { cases, all: 3, is_cut: false } }));
    await page.goto(`${stage.url}/jobs/cases`);
    await page.getByText("It fails on bench-1, bench-2: look at the firmware, or at the test.").waitFor();
    await page.getByText("It fails on bench-2 and passes on bench-1: look at the first, its wiring and its board.").waitFor();
    await page.getByText("75 %").waitFor();
    await page.getByRole("img", { name: "6 passed, 3 failed, 1 with a bench problem; the newest: failed" }).waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    assert.deepEqual(await findings(page), []);
    await screenshot(page, `history-${width}-${colorScheme}`);
    await page.getByRole("link", { name: "the sensor answers" }).click();
    const one = page.getByRole("region", { name: "the sensor answers" });
    await one.getByText("first bad").waitFor();
    assert.equal(await one.getByRole("table", { name: "Runs" }).locator("tbody tr").count(), 10);
    assert.deepEqual(await findings(page), []);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await screenshot(page, `history-case-${width}-${colorScheme}`);
    await page.reload();
    await one.getByText("first bad").waitFor();
    await one.getByRole("button", { name: "Close" }).click();
    await one.waitFor({ state: "detached" });
    await silent();
  });

test("the history of a job's cases is one click from the job, and grows when a job ends", async () => {
  const definition = (address) => `version: 1\nname: compared\nbenches:\n  - id: smoke\n    device: { name: demo }\n    steps:\n      - power: { rail: internal, state: on }\n      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 1MHz, samples: 100000 }\n        id: boot\n      - assert: { on: boot, decode: i2c, address: ${address}, ack: true }\n        case: the part answers\n`;
  const submit = (address, commit) => api("/jobs/submit", { definition: definition(address), name: "compared", ref: "main", commit });
  const { id } = await submit("0x68", "a".repeat(40));
  const { page, silent } = await open(`/jobs/${id}?view=cases`);
  await page.getByText("Passed", { exact: true }).waitFor({ timeout: 30_000 });
  await page.getByRole("link", { name: "the part answers" }).waitFor();
  await page.getByRole("link", { name: "In the last jobs" }).click();
  await page.getByRole("heading", { name: "Test cases" }).waitFor();
  await page.getByRole("link", { name: "smoke, as a whole" }).waitFor();
  await page.getByText("Passes").first().waitFor();
  await submit("0x11", "b".repeat(40));
  await page.getByRole("row", { name: /smoke, as a whole/ }).getByText("Fails").waitFor({ timeout: 30_000 });
  await page.getByRole("row", { name: /smoke, as a whole/ }).getByRole("link", { name: "bbbbbbbbbb" }).waitFor();
  await silent();
});

test("no history, and one that is cut, say so", async () => {
  for (const [json, words] of [[{ cases: [], all: 0, is_cut: false }, "No cases yet"], [{ cases, all: 300, is_cut: true }, "The first 3 of 300 cases. The jobs have more than can be read at once. Narrow the choice."]]) {
    const { page, silent } = await open("/sign-in");
    await page.route("**/api/jobs/cases*", (route) => route.fulfill({ json }));
    await page.goto(`${stage.url}/jobs/cases`);
    await page.getByText(words).waitFor();
    await silent();
  }
});
