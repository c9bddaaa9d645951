// A job and its log. The server's part is played here: the log of a real job depends on what the machine can isolate.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings, open, screenshot, stage } from "../stage.mjs";

const ID = "01M8GYAAAAAAAAAAAAAAAAAAAA";
const HOSTILE = `<img src=x onerror=alert(1)>`;

const attempt = (number, run, outcome, more = {}) => ({ number, run, outcome, code: null, device: null, message: "", log_bytes: 1000, assigned_at: "2026-11-28T10:00:00Z", started_at: `2026-11-28T10:00:0${number}Z`, ended_at: outcome === "running" ? null : `2026-11-28T10:00:0${number + 3}Z`, ...more });

const job = (more = {}) => ({
  id: ID, name: `board ${HOSTILE}`, state: "finished", verdict: "failure", status: "done", ended_because: "completed", ref: "main", commit: "0123456789abcdef", user: "owner", archive: null, retry_of: null,
  message: "smoke.f0: wanted 10 transfers to 0x68, there was none.",
  created_at: "2026-11-28T10:00:00Z", started_at: "2026-11-28T10:00:01Z", finished_at: "2026-11-28T10:00:08Z",
  attempts: [attempt(1, "fw.f0", "passed"), attempt(2, "smoke.f0", "failed")],
  ...more,
});

/** A log of a hundred thousand lines in fifty steps, as pieces of a stream. */
function* output(attemptNumber) {
  let offset = 0;
  const piece = (stream, text) => {
    const message = { type: "output", attempt: attemptNumber, stream, offset, bytes: text.length, step: 0, text };
    offset += text.length;
    return JSON.stringify(message);
  };
  for (let step = 0; step < 50; step++) {
    yield piece("server", `== step ${step}\n`);
    let text = "";
    for (let line = 0; line < 2000; line++) text += line % 500 === 7 ? `\x1b[31mERROR\x1b[0m assertion failed at ${step}.${line} ${HOSTILE}\n` : `[${line}] cc -c file${line}.c\n`;
    yield piece("output", text);
    yield piece("server", `-- step ${step}: ${step === 41 ? "failed" : "passed"}\n`);
  }
}

/** A page whose job is played. `connections` counts how often its log was asked for. */
async function played(path, given = job(), options = {}) {
  const opened = await open("/sign-in", options);
  const connections = [];
  await opened.page.route(`**/api/jobs/${ID}`, (route) => route.fulfill({ json: given }));
  await opened.page.route(`**/api/jobs/${ID}/trace.json`, (route) => route.fulfill({ json: [] }));
  await opened.page.routeWebSocket(`**/api/jobs/${ID}/ws`, (socket) => {
    connections.push(socket);
    for (const message of output(2)) socket.send(message);
  });
  await opened.page.goto(stage.url + path);
  return { ...opened, connections };
}

test("a log of 100 000 lines is searched, folded and linked to", async () => {
  const { page, silent } = await played(`/jobs/${ID}#L54321`);
  await page.locator(".logline.chosen", { hasText: "54321" }).waitFor();
  await page.getByText("100\u202f000 lines").waitFor();
  assert.equal(await page.locator("img").count(), 0);
  await page.getByLabel("Search the log").fill("assertion failed at 41");
  await page.keyboard.press("Enter");
  await page.getByText(/^1 of 4$/).waitFor();
  await page.locator(".logline.chosen .f1", { hasText: "ERROR" }).waitFor();
  assert.match(new URL(page.url()).hash, /^#L8200\d$/);
  await page.getByRole("button", { name: "Fold all" }).click();
  await page.getByRole("button", { name: /^step 41 failed/ }).waitFor();
  assert.equal(await page.locator(".logline").count(), 0);
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "job-folded");
  await silent();
});

for (const [width, colorScheme] of [[1400, "dark"], [390, "light"]])
  test(`a job at ${width} px, ${colorScheme}`, async () => {
    const { page, silent } = await played(`/jobs/${ID}`, job(), { colorScheme, viewport: { width, height: 844 } });
    await page.getByText("Failed", { exact: true }).waitFor();
    await page.getByText("100\u202f000 lines").waitFor();
    // It opens where its step failed.
    await page.locator(".logline", { hasText: "84000" }).waitFor();
    await screenshot(page, `job-${width}-${colorScheme}`);
    assert.deepEqual(await findings(page), []);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await silent();
  });

test("a line that comes back says nothing twice", async () => {
  const { page, connections, silent } = await played(`/jobs/${ID}`, job({ state: "running", verdict: "pending", finished_at: null, attempts: [attempt(2, "smoke.f0", "running")] }));
  await page.getByText("100\u202f000 lines").waitFor();
  await connections[0].close({ code: 1001 });
  await page.getByText(/Reconnecting/).waitFor();
  await page.getByText("Live").waitFor();
  assert(connections.length >= 2);
  await page.waitForTimeout(500);
  await page.getByText("100\u202f000 lines").waitFor();
  await silent();
});

test("attempts are chosen, and the address says which", async () => {
  const { page, silent } = await played(`/jobs/${ID}`);
  await page.getByRole("button", { name: /fw\.f0/ }).click();
  await page.waitForFunction(() => new URL(location.href).searchParams.get("attempt") === "1");
  await page.getByText(/Nothing was written yet|Reading the log/).waitFor();
  await page.getByRole("button", { name: /smoke\.f0/ }).click();
  await page.getByText("100\u202f000 lines").waitFor();
  await silent();
});
