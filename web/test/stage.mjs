// What tests in a browser stand on: one hostd with its demo bench, one Chromium, and pages that have to stay silent.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startHostd } from "../dev/hostd.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** How pages are looked at: two ways that have both colour schemes and both widths, or with LOOKS=all each of the four. */
export const looks = process.env.LOOKS === "all" ? [["light", 1400], ["light", 390], ["dark", 1400], ["dark", 390]] : [["light", 1400], ["dark", 390]];

/** The server that is tested. */
export const SERVER = process.env.SERVER ?? join(here, "../../target/release/hostd");
/** The firmware of the simulated target, which comes with the source. */
export const FIRMWARE = join(here, "../../hostd/target-sim/firmware/demo.elf");
/** A board with a slot in its ground plane and a clock that crosses it. */
export const BOARD = join(here, "../../hostd/emi/testdata/slot.kicad_pcb");
/** A folder that the server shows instead of what is in it: `WEB=.watch`, while editing. */
export const MORE = process.env.WEB ? ["--web", process.env.WEB] : [];
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Where screenshots go, if anywhere. */
const SCREENS = process.env.SCREENS;

const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--js-flags=--expose-gc"];

/** Set by `begin`, for all tests. */
export const stage = { hostd: undefined, browser: undefined, url: "", device: "", state: undefined, member: undefined, link: "" };

export async function begin() {
  [stage.hostd, stage.browser] = await Promise.all([startHostd(SERVER, { more: MORE }), chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS })]);
  stage.url = stage.hostd.url;
  stage.device = stage.hostd.devices[0].id;
  const page = await fetch(`${stage.url}/devices`, { headers: { accept: "text/html" } });
  if (!page.ok) {
    // A hostd that was built before this folder.
    stage.before = await made();
    stage.url = stage.before.url;
  }
  stage.link = `${stage.url}/sign-in#code=${stage.hostd.code()}`;
  if (SCREENS) mkdirSync(SCREENS, { recursive: true });
}

export async function end() {
  await stage.browser?.close();
  stage.before?.stop();
  await stage.hostd?.stop();
}

/** The API as a program uses it. */
export async function api(path, body, { method = body ? "POST" : "GET", headers = {} } = {}) {
  const isForm = body instanceof FormData || body instanceof Uint8Array;
  const response = await fetch(`${stage.hostd.url}/api${path}`, {
    method,
    headers: { authorization: `ApiKey ${stage.hostd.apiKey}`, ...(body && !isForm ? { "content-type": "application/json" } : {}), ...headers },
    body: isForm ? body : body && JSON.stringify(body),
  });
  const text = await response.text();
  return text ? JSON.parse(text) : undefined;
}

/** A capture of the demo's I²C bus, once it is done. */
export async function capture(name, samples = 1_000_000) {
  const { capture_id } = await api("/analyzer/captures/start", { device_id: stage.device, samples, sample_rate_mhz: 1, scl: "LA1", sda: "LA2", voltage_mv: 3300, name });
  return finished(capture_id);
}

export async function finished(id) {
  for (;;) {
    const { status } = await api(`/capture/${id}?frames=none`);
    if (status === "done") return id;
    assert(["pending", "armed", "running"].includes(status), `the capture ${status}`);
    await new Promise((later) => setTimeout(later, 100));
  }
}

/** A board that comes with the source, sent to a project, once its run has ended: `{ board, run }` by their ids. */
export async function board(project, path = BOARD) {
  const bytes = readFileSync(path);
  const filename = path.split("/").at(-1);
  const { key, upload_url, already_uploaded } = await api(`/emi/projects/${project}/uploads`, { filename, sha256: createHash("sha256").update(bytes).digest("hex") });
  if (!already_uploaded) assert((await fetch(upload_url, { method: "PUT", body: bytes })).ok);
  const { board: made, run } = await api(`/emi/projects/${project}/boards`, { input_key: key });
  for (;;) {
    const { status, error } = await api(`/emi/runs/${run.id}`);
    if (status === "done") return { board: made.id, run: run.id };
    assert(!["failed", "timed_out"].includes(status), error);
    await new Promise((later) => setTimeout(later, 100));
  }
}

/** A page that remembers what a silent one would not say: errors, refused scripts and styles. */
export async function bare(options = {}) {
  const context = await stage.browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  count(page);
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.stack}`));
  await page.addInitScript(() =>
    addEventListener("securitypolicyviolation", ({ violatedDirective, sourceFile, lineNumber, sample }) =>
      console.error(`CSP ${violatedDirective} ${sourceFile}:${lineNumber} ${sample}`)),
  );
  return { context, page, said };
}

/** A page of a person who has signed in. `silent` ends it, and fails if it said anything. */
export async function open(path, options = {}) {
  const { context, page, said } = await bare({ storageState: stage.state, ...options });
  await page.goto(stage.url + path);
  return {
    context, page, said,
    async silent() {
      assert.deepEqual(said, []);
      await context.close();
    },
  };
}

/** The session of a member of the organisation: who has no right to administer. */
export async function member() {
  if (stage.member) return stage.member;
  const [owner, own] = await Promise.all([stage.browser.newContext({ storageState: stage.state }), stage.browser.newContext()]);
  const made = await (await owner.request.post(`${stage.url}/api/users`, { data: { login: "mia", role: "member" } })).json();
  assert((await own.request.post(`${stage.url}/api/auth/session`, { data: { code: made.code } })).ok());
  stage.member = await own.storageState();
  await Promise.all([owner.close(), own.close()]);
  return stage.member;
}

/** Does something with each of all, a few side by side: pages mostly wait. */
export async function each(all, work, beside = 4) {
  const left = [...all];
  await Promise.all(Array.from({ length: beside }, async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      await work(next).catch((error) => {
        throw new Error(`${[next].flat()[0]}: ${error.message}`, { cause: error });
      });
  }));
}

/** Waits until a page has what it asked for; the stream of events, which does not end, is no request in this sense. */
export async function settled(page, quietMs = 400) {
  for (let quiet = performance.now(); performance.now() - quiet < quietMs; await new Promise((later) => setTimeout(later, 50))) if (asked.get(page)?.size) quiet = performance.now();
}

/** Requests of pages that are under way. */
const asked = new WeakMap();

function count(page) {
  const all = new Set();
  asked.set(page, all);
  page.on("request", (request) => !/\/api\/events(\?|$)/.test(request.url()) && all.add(request));
  for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => all.delete(request));
}

/** What axe finds on a page: nothing, for a page that all can use. */
export async function findings(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate((rules) => axe.run({ runOnly: rules }), RULES);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).slice(0, 3).join(" | ")}`);
}

export async function screenshot(page, name) {
  if (SCREENS) await page.screenshot({ path: join(SCREENS, `${name}.png`) });
}

/** The development server before the stage's hostd: it has a capture of a billion samples. */
export async function made() {
  const child = spawn(process.execPath, [join(here, "../dev/serve.mjs"), "--hostd", stage.hostd.url], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done) => child.stdout.once("data", (data) => done(String(data).trim())));
  return { url, stop: () => child.kill() };
}

export const missing = [SERVER, CHROMIUM].find((path) => !existsSync(path));
