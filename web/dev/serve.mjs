// Serves dist/ as hostd does and passes /api on to a running hostd: for a hostd that was built before this folder, and for
// `/captures/synthetic`, a capture of a billion samples, and `/jobs/synthetic`, a log of 100,000 lines, which are made up here.
// `node dev/serve.mjs --hostd http://127.0.0.1:8800 [--port 8080] [--dist .watch]`. With `--flood MEGABYTES` every console is flooded.
// Development and tests only.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import * as played from "./played.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { hostd: { type: "string" }, port: { type: "string", default: "0" }, dist: { type: "string", default: "dist" }, flood: { type: "string" } } });
const dist = resolve(here, "..", values.dist);
const hostd = new URL(values.hostd);

export const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const SAFE = { "content-security-policy": CSP, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin" };
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", txt: "text/plain; charset=utf-8", map: "application/json" };

/** What is made up, and the form of tiles. */
async function bundled(path) {
  const built = await esbuild.build({ entryPoints: [join(here, path)], bundle: true, format: "esm", platform: "node", write: false });
  return import("data:text/javascript;base64," + Buffer.from(built.outputFiles[0].contents).toString("base64"));
}
const made = await bundled("synthetic.ts");
const wire = await bundled("../src/model/wire.ts");

/** Of the job that is played. */
const LOG_LINES = 100_000;
let log;

const kept = new Map();
function file(name) {
  const path = join(dist, name);
  if (!/^[\w.-]+$/.test(name) || !existsSync(path)) return undefined;
  const { mtimeMs } = statSync(path);
  if (kept.get(name)?.mtimeMs !== mtimeMs) {
    const bytes = readFileSync(path);
    kept.set(name, { mtimeMs, bytes, gzip: gzipSync(bytes, { level: 9 }), etag: `"${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}"` });
  }
  return kept.get(name);
}

function sendFile(request, response, name, cache) {
  const found = file(name);
  if (!found) return void response.writeHead(404, SAFE).end();
  const head = { ...SAFE, "content-type": TYPES[name.split(".").at(-1)], "cache-control": cache, etag: found.etag, vary: "accept-encoding" };
  if (request.headers["if-none-match"] === found.etag) return void response.writeHead(304, head).end();
  const zipped = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  const body = zipped ? found.gzip : found.bytes;
  response.writeHead(200, { ...head, "content-length": body.length, ...(zipped ? { "content-encoding": "gzip" } : {}) });
  response.end(request.method === "HEAD" ? undefined : body);
}

function proxy(request, response) {
  const onward = http.request({ host: hostd.hostname, port: hostd.port, method: request.method, path: request.url, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.headersSent ? response.destroy() : response.writeHead(502, { "content-type": "application/json" }).end('{"error":"The server does not answer.","code":"no_server","request_id":""}'));
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

/** The record of the capture that is made up. */
function record() {
  const channels = made.LANES.map(({ name, kind, unit }, id) => ({ id, name, type: kind, unit, sample_rate_hz: made.RATE, samples: made.SAMPLES, bits: kind === "analog" ? 16 : 1, full_scale: 1, offset: 0 }));
  const now = new Date().toISOString();
  return { id: "synthetic", device_id: "", kind: "logic", name: "Synthetic, ten seconds", pinned: false, status: "done", created_at: now, finished_at: now, trigger_sample: null, channels, markers: [] };
}

const json = (response, body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));

/** A capture of a billion samples and a log of 100,000 lines, below names that no server gives. */
async function synthetic(url, response) {
  const head = { "cache-control": "private, max-age=3600, immutable" };
  const number = (name) => Number(url.searchParams.get(name));
  switch (url.pathname) {
    case "/api/capture/synthetic":
      return void json(response, record());
    case "/api/capture/synthetic/tiles": {
      const [level, index] = [number("level"), number("index")];
      const lanes = made.tile(level, index).parts.map((part, channel) => ({ channel, part }));
      return void response.writeHead(200, { ...head, "content-type": "application/octet-stream" }).end(Buffer.from(wire.writeTiles({ level, index, lanes })));
    }
    case "/api/capture/synthetic/decode": {
      response.writeHead(200, { ...head, "content-type": "application/x-ndjson" });
      const [lines, { period }] = url.searchParams.get("protocol") === "uart" ? [made.uartLines, made.UART] : [made.i2cLines, { period: 100_000 }];
      let text = "";
      for (let burst = 0; burst < made.SAMPLES / period; burst++) {
        text += lines(burst);
        if (text.length < 65536) continue;
        if (!response.write(text)) await new Promise((drained) => response.once("drain", drained));
        text = "";
      }
      return void response.end(text);
    }
    default:
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":"this capture is made up and knows no more","code":"not_found","request_id":""}');
  }
}

const server = http.createServer((request, response) => {
  const url = new URL(request.url, "http://here");
  if (url.pathname === `/api/jobs/${played.JOB}`) return void json(response, played.job());
  if (url.pathname === `/api/jobs/${played.JOB}/trace.json`) return void json(response, []);
  if (/^\/api\/capture\/synthetic(\/|$)/.test(url.pathname)) return synthetic(url, response);
  if (/^\/(api|tools)\//.test(url.pathname)) return proxy(request, response);
  const asset = /^\/assets\/[0-9a-f]{16}\/([^/]+)$/.exec(url.pathname);
  if (asset) return sendFile(request, response, asset[1], "public, max-age=31536000, immutable");
  if (/\.\w+$/.test(url.pathname)) return void response.writeHead(404, SAFE).end();
  sendFile(request, response, "index.html", "no-cache");
});

server.on("upgrade", (request, socket, head) => {
  const { pathname } = new URL(request.url, "http://here");
  if (pathname === `/api/jobs/${played.JOB}/ws`) return void played.log(request, socket, (log ??= made.jobLog(LOG_LINES)));
  if (values.flood && pathname.endsWith("/uart/ws")) return void played.flood(request, socket, Number(values.flood));
  const onward = net.connect(Number(hostd.port), hostd.hostname, () => {
    onward.write(`${request.method} ${request.url} HTTP/1.1\r\n` + request.rawHeaders.reduce((all, part, i) => all + part + (i % 2 ? "\r\n" : ": "), "") + "\r\n");
    onward.write(head);
    onward.pipe(socket).pipe(onward);
  });
  onward.on("error", () => socket.destroy());
  socket.on("error", () => onward.destroy());
  socket.on("close", () => onward.destroy());
});
server.listen(Number(values.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
