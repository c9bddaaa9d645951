// What happens is seen at once, and a page on which nothing happens asks for nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, capture, each, open, settled, stage } from "../stage.mjs";

const SOON = { timeout: 1000 };
const IDLE_MS = 10_000;

/** The paths that a page asks for from now on. */
function listen(page) {
  const paths = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  return paths;
}

async function token() {
  const { token: made } = await api("/auth/token", {});
  return { authorization: `Bearer ${made}` };
}

const lease = (what, body, headers) => api(`/cloud/devices/lease${what}?device=demo`, body, { headers });

test("a lease that a program takes is seen within a second, and its end", async () => {
  const headers = await token();
  const { page, silent } = await open(`/devices/${stage.device}`);
  await page.getByText("Free").waitFor();
  await settled(page);
  await lease("", { lease_id: "events-1", run_label: "nightly 3", ttl_seconds: 60 }, headers);
  await page.getByText("nightly 3", { exact: true }).waitFor(SOON);
  await lease("/release", { lease_id: "events-1" }, headers);
  await page.getByText("Free").waitFor({ timeout: 5000 });
  await silent();
});

test("a capture that a program makes appears without asking", async () => {
  const { page, silent } = await open("/captures");
  await page.getByRole("heading", { name: "Captures", exact: true }).waitFor();
  await settled(page);
  const paths = listen(page);
  await new Promise((later) => setTimeout(later, 4000));
  assert.deepEqual(paths, []);
  const { capture_id } = await api("/analyzer/captures/start", { device_id: stage.device, samples: 100_000, sample_rate_mhz: 1, scl: "LA1", sda: "LA2", voltage_mv: 3300, name: "made by a program" });
  await page.getByRole("link", { name: "made by a program" }).waitFor(SOON);
  const row = page.getByRole("row", { name: /made by a program/ });
  await row.getByText("Done").waitFor();
  await api(`/capture/${capture_id}`, undefined, { method: "DELETE" });
  await row.waitFor({ state: "detached", ...SOON });
  assert(paths.length <= 8, `asked ${paths.length} times for what happened to one capture`);
  await silent();
});

test("a job that a program submits appears without asking, and how it ends", async () => {
  const { page, silent } = await open("/jobs");
  await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
  await settled(page);
  await api("/jobs/submit", { definition: "version: 1\nname: by a program\nbenches:\n  - id: blink\n    device: { name: demo }\n    steps:\n      - power: { rail: internal, state: off }\n" });
  await page.getByRole("link", { name: "by a program" }).waitFor(SOON);
  await page.getByRole("row", { name: /by a program/ }).getByText("Passed").waitFor({ timeout: 30_000 });
  await silent();
});

test("how long ago something was grows without asking", async () => {
  const { page, silent } = await open("/captures");
  await api("/analyzer/captures/start", { device_id: stage.device, samples: 1000, sample_rate_mhz: 1, scl: "LA1", sda: "LA2", voltage_mv: 3300, name: "growing old" });
  const row = page.getByRole("row", { name: /growing old/ });
  await row.getByText("just now").waitFor();
  await row.getByText(/^1\d s ago$/).waitFor({ timeout: 18_000 });
  await silent();
});

test("pages on which nothing happens ask for nothing", async () => {
  const id = await capture("nothing happens");
  await each([["/captures", 0], ["/jobs", 0], ["/devices", 4], [`/captures/${id}`, 0]], async ([path, most]) => {
    const { page, silent } = await open(path);
    await page.locator("main h1").waitFor();
    await settled(page, 1000);
    const paths = listen(page);
    await new Promise((later) => setTimeout(later, IDLE_MS));
    assert(paths.length <= most, `${path} asked for ${paths}`);
    await silent();
  });
});

test("without the stream pages ask again and again, and with it again they do not", async () => {
  const { page, context } = await open("/sign-in");
  let refused = true;
  await page.route("**/api/events*", (route) => (refused ? route.fulfill({ status: 429, json: { error: "too many streams", code: "too_many_streams" } }) : route.continue()));
  await page.goto(`${stage.url}/jobs`);
  await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
  const paths = listen(page);
  await page.waitForRequest("**/api/jobs", { timeout: 5000 });
  await page.waitForRequest("**/api/jobs", { timeout: 5000 });
  refused = false;
  await page.waitForResponse((response) => response.url().includes("/api/events") && response.ok(), { timeout: 30_000 });
  await settled(page, 1000);
  paths.length = 0;
  await new Promise((later) => setTimeout(later, 5000));
  assert.deepEqual(paths, []);
  await context.close();
});

test("a tab that is not seen asks for nothing until it is seen", async () => {
  const headers = await token();
  const { page, silent } = await open("/devices");
  await page.getByText("Free").waitFor();
  await settled(page);
  const see = (hidden) => page.evaluate((is) => {
    Object.defineProperty(document, "hidden", { value: is, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await see(true);
  // What was planned before is still asked for once.
  await new Promise((later) => setTimeout(later, 6000));
  const paths = listen(page);
  await lease("", { lease_id: "events-2", run_label: "nightly 4", ttl_seconds: 60 }, headers);
  await new Promise((later) => setTimeout(later, 6000));
  assert.deepEqual(paths, []);
  await see(false);
  await page.getByText("nightly 4", { exact: true }).waitFor(SOON);
  await lease("/release", { lease_id: "events-2" }, headers);
  await page.getByText("Free").waitFor({ timeout: 5000 });
  await silent();
});

test("one stream serves all pages of a tab, and ends with the session", async () => {
  const { page, context } = await open("/sign-in");
  await settled(page);
  const streams = [];
  const ended = [];
  page.on("request", (request) => request.url().includes("/api/events") && streams.push(request));
  page.on("requestfailed", (request) => request.url().includes("/api/events") && ended.push(request));
  await page.goto(`${stage.url}/devices`);
  for (const name of ["Captures", "Jobs", "Devices"]) {
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { name, exact: true }).waitFor();
  }
  assert.equal(streams.length, 1);
  // The session of the other tests goes on: only this browser forgets it.
  await page.route("**/api/auth/session", (route) => (route.request().method() === "DELETE" ? route.fulfill({ status: 204 }) : route.continue()));
  await page.getByRole("button", { name: /owner/ }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to hostd" }).waitFor();
  await assertSoon(() => ended.length === 1);
  assert.equal(streams.length, 1);
  await context.close();
});

async function assertSoon(holds) {
  for (let tries = 0; !holds(); tries++) {
    assert(tries < 40, `never: ${holds}`);
    await new Promise((later) => setTimeout(later, 50));
  }
}
