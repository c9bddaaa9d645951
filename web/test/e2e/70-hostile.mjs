// Texts of others: whatever devices, jobs, targets and people call things, nothing of it runs, and no page breaks.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { fill, pages } from "../pages.mjs";
import { api, bare, finished, open, screenshot, stage } from "../stage.mjs";

const HOSTILE = [
  `"><img src=x onerror="window.ran=1"><script>window.ran=1</script>`,
  "javascript:window.ran=1",
  "\u202egnp.exe\u202c שלום \u0627\u0644\u0644\u063a\u0629",
  `你好世界🙂e\u0301\u0301\u0301 ${"W".repeat(180)}`,
];

/** Members of answers whose text others choose. */
const FREE = new Set(["about", "artifact_name", "board", "commit", "description", "detail", "error", "filename", "firmware_version", "holder", "label", "login", "message", "name", "net", "note", "org_name", "reason", "ref", "repository", "rule", "run_label", "serial", "text", "title", "url"]);

/** An answer with `payload` in every such text. Names of channels, layers and decoders stay: requests are made of them. */
function spoiled(value, payload, key = "") {
  if (Array.isArray(value)) return key === "channels" || key === "layers" || key === "decoders" ? value : value.map((one) => spoiled(one, payload, key));
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoiled(one, payload, name)]));
  return typeof value === "string" && FREE.has(key) && !value.startsWith("http") ? `${value.slice(0, 8)}${payload}` : value;
}

async function spoil(page, payload) {
  let count = 0;
  await page.route("**/api/**", async (route) => {
    const request = route.request();
    if (request.method() !== "GET" || !["fetch", "xhr"].includes(request.resourceType()) || /\/events|\/decode|\/tiles|artifacts\//.test(request.url()) || request.headers()["accept"]?.includes("event-stream")) return route.continue();
    try {
      const response = await route.fetch();
      if (!response.headers()["content-type"]?.includes("application/json")) return await route.fulfill({ response });
      count++;
      await route.fulfill({ response, json: spoiled(await response.json(), payload) });
    } catch {
      // The page has gone.
    }
  });
  return () => count;
}

/** Fails if something of a text has become part of the page. */
async function unharmed(page, path, width) {
  const { ran, images, links, wide, beyond } = await page.evaluate(() => ({
    ran: window.ran,
    images: document.querySelectorAll('img[src="x"], #app script').length,
    links: [...document.querySelectorAll("a[href]")].filter(({ protocol }) => !["http:", "https:", "blob:"].includes(protocol)).map(({ outerHTML }) => outerHTML),
    wide: document.documentElement.scrollWidth,
    beyond: [...document.querySelectorAll("body *")].filter((one) => one.children.length === 0 && one.getBoundingClientRect().right > innerWidth + 1 && one.checkVisibility()).slice(0, 3).map((one) => `<${one.parentElement.tagName}.${one.parentElement.className}> <${one.tagName} class="${one.className}"> ${one.textContent.slice(0, 20)}`),
  }));
  assert.equal(ran, undefined, `${path}: a text has run`);
  assert.equal(images, 0, `${path}: a text has become an element`);
  assert.deepEqual(links, [], path);
  assert(wide <= width, `${path} is ${wide} px wide: ${beyond.join(", ")}`);
}

test("something to look at", fill);

for (const [width, colorScheme] of [[1400, "light"], [390, "dark"]])
  test(`texts of others are only texts, ${width} px`, async () => {
    const wrong = [];
    const { page, context, said } = await open("/sign-in", { colorScheme, viewport: { width, height: 844 } });
    const count = await spoil(page, HOSTILE.join(" "));
    for (const [name, path] of pages()) {
      const before = count();
      await page.goto(stage.url + path);
      await page.locator("main h1").waitFor();
      await page.waitForTimeout(600);
      await screenshot(page, `hostile-${width}-${name}`);
      await unharmed(page, path, width).catch(({ message }) => wrong.push(message));
      if (count() === before) wrong.push(`${path}: nothing was read`);
      for (const line of said.splice(0)) wrong.push(`${path}: ${line}`);
    }
    assert.deepEqual(wrong, []);
    await context.close();
  });

test("names, notes and labels that the server takes are shown as they are", async () => {
  const [name] = HOSTILE;
  const { capture_id: id } = await api("/analyzer/captures/start", { device_id: stage.device, samples: 1000, sample_rate_mhz: 1, scl: "LA1", sda: "LA2", voltage_mv: 3300, name });
  await finished(id);
  const { channels } = await api(`/capture/${id}?frames=none`);
  const changed = await api(`/capture/${id}`, { channels: [{ id: channels[0].id, label: "<img src=x>" }], markers: [{ sample: 10, note: name }] }, { method: "PATCH" });
  assert.equal(changed.markers[0].note, name);
  const waveform = await api("/bench/waveforms/segments", { name: "javascript:alert(1)", dac_path: "3v3", segments: [{ shape: "hold", duration_ms: 10, v_start: 1 }] });
  const { page, silent } = await open(`/captures/${id}`);
  await page.getByRole("heading", { name }).waitFor();
  await page.getByText("<img src=x>").first().waitFor();
  await unharmed(page, "the viewer", 1400);
  await page.goto(`${stage.url}/waveforms/${waveform.id}`);
  await page.getByRole("heading", { name: "javascript:alert(1)" }).waitFor();
  await unharmed(page, "a waveform", 1400);
  await silent();
  await api(`/capture/${id}`, undefined, { method: "DELETE" });
  await api(`/bench/waveforms/${waveform.id}`, undefined, { method: "DELETE" });
});

test("what a target says is only text", async () => {
  await api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state: 1 } });
  const { page, silent } = await open("/sign-in");
  await page.routeWebSocket("**/uart/ws*", (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => {
      socket.send(message);
      if (typeof message !== "string") return;
      // After the first words of the server, the target says what it likes: elements, links of terminals, titles, directions.
      if (JSON.parse(message).type === "open") socket.send(Buffer.from(`\x1b[999999999;999999999Hx\x1b[999999999S\x00\xff\xfe\r\n\x1b]8;;javascript:window.ran=1\x07click\x1b]8;;\x07\r\n\x1b]0;${HOSTILE[0]}\x07${HOSTILE[2]}\r\n${HOSTILE[3]}\r\n${HOSTILE[0]}\r\n`, "utf8"));
    });
  });
  await page.goto(`${stage.url}/devices/${stage.device}/console`);
  await page.getByText("Live").waitFor();
  await page.getByText("<img src=x").first().waitFor();
  await page.waitForTimeout(300);
  await screenshot(page, "hostile-console");
  await unharmed(page, "the console", 1400);
  assert.match(await page.title(), /demo/);
  await page.getByLabel("Hex").check();
  await page.waitForTimeout(200);
  await unharmed(page, "the console in hexadecimal", 1400);
  await silent();
  await api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state: 0 } });
});

test("every page comes with one and the same content security policy", async () => {
  const policies = new Set();
  for (const [, path] of pages()) {
    const { headers, status } = await fetch(stage.url + path, { headers: { accept: "text/html" } });
    assert.equal(status, 200, path);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    policies.add(headers.get("content-security-policy"));
  }
  assert.equal(policies.size, 1);
  const [policy] = policies;
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]) assert(policy.includes(part), part);
  assert(!/unsafe/.test(policy));
});

test("a script that gets into a page does not run", async () => {
  const { page, context } = await open("/devices");
  await page.locator("main h1").waitFor();
  const refused = await page.evaluate(() => {
    try {
      document.querySelector("main").innerHTML = "<img src=x onerror='window.ran=1'>";
      return "";
    } catch ({ name }) {
      return name;
    }
  });
  assert.equal(refused, "TypeError");
  await page.evaluate(() => {
    const image = document.createElement("img");
    image.setAttribute("src", "/never.png");
    image.setAttribute("onerror", "window.ran=1");
    document.body.append(image);
  }).catch(() => undefined);
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  await context.close();
});

test("another site changes nothing with a person's cookie", async () => {
  const { id } = await api("/webhooks", { url: "https://receiver.invalid/csrf" });
  const cookie = stage.state.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const rotate = `${stage.url}/api/webhooks/${id}/rotate`;
  for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }, { origin: "null" }]) {
    const response = await fetch(rotate, { method: "POST", headers: { cookie, ...headers } });
    assert.equal(response.status, 403, JSON.stringify(headers));
    assert.equal((await response.json()).code, "forbidden");
  }
  // The cookie by itself would do it.
  assert.equal((await fetch(rotate, { method: "POST", headers: { cookie, origin: stage.url } })).status, 200);

  // Another port is another origin, to which the browser sends the cookie nevertheless.
  const site = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>evil</title><form method="post" action="${rotate}"><button>Win</button></form>`));
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
  try {
    const { page, context } = await bare({ storageState: stage.state });
    await page.goto(`http://127.0.0.1:${site.address().port}/`);
    const asked = await page.evaluate((address) => fetch(address, { method: "POST", mode: "no-cors", credentials: "include" }).then(({ type }) => type, () => "failed"), rotate);
    assert(["opaque", "failed"].includes(asked));
    const socket = await page.evaluate((address) => new Promise((done) => {
      const one = new WebSocket(address);
      one.onopen = () => done("open");
      one.onerror = () => done("refused");
    }), `${stage.url.replace("http", "ws")}/api/bench/devices/${stage.device}/uart/ws`);
    assert.equal(socket, "refused");
    const [response] = await Promise.all([page.waitForResponse(rotate), page.getByRole("button", { name: "Win" }).click()]);
    assert.equal(response.status(), 403);
    await context.close();
  } finally {
    site.close();
    await api(`/webhooks/${id}`, undefined, { method: "DELETE" });
  }
});
