// Measures what docs/web.md promises: `SERVER=path/to/hostd npm run bench [-- NAME…] [-- --minutes 5 --repeat 5 --json FILE]`.
// Names: bytes, frames, paint, console, log, live; without any, all. The program always ends well: it measures, it does not judge.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { sizes } from "./bench/bytes.mjs";
import { consoles } from "./bench/console.mjs";
import { frames } from "./bench/frames.mjs";
import { lives } from "./bench/live.mjs";
import { logs } from "./bench/log.mjs";
import { median } from "./bench/page.mjs";
import { paints } from "./bench/paint.mjs";
import { startHostd } from "./hostd.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const ALL = { bytes: sizes, frames, paint: paints, console: consoles, log: logs, live: lives };
const { values: given, positionals } = parseArgs({ allowPositionals: true, options: { minutes: { type: "string", default: "2" }, repeat: { type: "string", default: "5" }, megabytes: { type: "string", default: "50" }, json: { type: "string" } } });
const wanted = positionals.length > 0 ? positionals : Object.keys(ALL);
const unknown = wanted.filter((name) => !(name in ALL));
const server = process.env.SERVER ?? join(here, "../../target/release/hostd");
const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
const missing = [server, program].filter((path) => !existsSync(path));
if (unknown.length > 0 || missing.length > 0) {
  console.error(unknown.length > 0 ? `There is no bench ${unknown.join(", ")}; there are ${Object.keys(ALL).join(", ")}.` : `Nothing is measured: there is no ${missing.join(", ")}.`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

/** A line of the table: the median, the spread, and how it stands to what is promised. */
function written({ name, values, unit, most, least, note }) {
  const middle = median(values);
  const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));
  const ratio = most === undefined ? middle / least : middle / most;
  const spread = values.length > 1 ? `${digits(Math.min(...values))}–${digits(Math.max(...values))}` : "";
  const isKept = most === undefined ? middle >= least : middle <= most;
  return [name, `${digits(middle)} ${unit}`, spread, `${most === undefined ? "≥" : "≤"} ${most ?? least} ${unit}`, ratio.toFixed(2), isKept ? "kept" : "MISSED", note];
}

function printed(rows) {
  const table = [["", "median", "from–to", "budget", "of it", "", ""], ...rows];
  const wide = table[0].map((_, i) => Math.max(...table.map((row) => row[i].length)));
  for (const row of table) console.log(row.map((cell, i) => cell.padEnd(wide[i])).join("  ").trimEnd());
}

const dist = mkdtempSync(join(here, "../.bench-"));
execFileSync(process.execPath, [join(here, "../build.mjs"), "--out", dist]);
const hostd = await startHostd(server, { more: ["--web", dist] });
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });

/** The development server in front, which plays what no demo bench does. */
async function front(...more) {
  const child = spawn(process.execPath, [join(here, "serve.mjs"), "--hostd", hostd.url, "--dist", dist, ...more], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done) => child.stdout.once("data", (data) => done(String(data).trim())));
  return { url, stop: () => child.kill() };
}
const fronts = [await front(), await front("--flood", given.megabytes)];

const first = await browser.newContext();
const door = await first.newPage();
await door.goto(`${hostd.url}/sign-in#code=${hostd.code()}`);
await door.waitForURL("**/devices");
const { cookies } = await first.storageState();
await first.close();

const api = async (path, body, method = body ? "POST" : "GET") => {
  const response = await fetch(`${hostd.url}/api${path}`, { method, headers: { authorization: `ApiKey ${hostd.apiKey}`, ...(body ? { "content-type": "application/json" } : {}) }, ...(body ? { body: JSON.stringify(body) } : {}) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return text ? JSON.parse(text) : undefined;
};
const stand = {
  dist, api, url: hostd.url, synthetic: fronts[0].url, flooded: fronts[1].url, device: hostd.devices[0].id,
  repeat: Number(given.repeat), minutes: Number(given.minutes), megabytes: Number(given.megabytes),
  /** A page of a browser that has nothing but the session; cookies know no port. */
  async open(address) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
    await context.addCookies(cookies);
    const page = await context.newPage();
    await page.goto(address);
    return page;
  },
};

console.log(`Chromium ${browser.version()} without a GPU: it draws in software, on the same cores as the server. Load ${loadavg()[0].toFixed(1)}.`);
const results = [];
try {
  for (const name of wanted) {
    process.stderr.write(`${name} …\n`);
    // One that fails leaves the others to be measured.
    results.push(...(await Promise.resolve(ALL[name](stand)).catch((error) => [{ name: `${name}: ${String(error.message).split("\n")[0]}`, values: [NaN], unit: "", most: 0, note: "not measured" }])));
  }
} finally {
  await browser.close();
  fronts.forEach(({ stop }) => stop());
  await hostd.stop();
  rmSync(dist, { recursive: true });
}
printed(results.map(written));
console.log(`Load ${loadavg()[0].toFixed(1)} at the end.`);
if (given.json) writeFileSync(given.json, JSON.stringify(results, undefined, 2));
