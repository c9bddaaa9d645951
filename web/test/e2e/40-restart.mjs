// Two browsers, and a server that comes back. Last: it restarts the server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MORE, SERVER, api, capture, open, settled, stage } from "../stage.mjs";
import { startHostd } from "../../dev/hostd.mjs";

test("what one browser does, another one sees", async () => {
  const [one, other] = await Promise.all([open("/devices"), open(`/devices/${stage.device}`)]);
  await api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state: 0 } });
  const rail = one.page.getByRole("switch", { name: "5 V rail of demo" });
  await rail.getByText("Off").waitFor();
  await rail.click();
  await other.page.getByRole("switch", { name: "Internal 5 V" }).getByText("On", { exact: true }).waitFor();
  await Promise.all([one.silent(), other.silent()]);
});

test("after a restart of the server, pages and lines come back by themselves", async () => {
  const { page, context } = await open(`/devices/${stage.device}/console`);
  await page.getByText("Live").waitFor();
  const { folder, url } = stage.hostd;
  await stage.hostd.end();
  await page.getByText(/Reconnecting, lost/).waitFor();
  await page.getByText("The server has not answered for").waitFor();
  stage.hostd = await startHostd(SERVER, { folder, listen: new URL(url).host, more: MORE });
  await page.getByText("Live").waitFor({ timeout: 20_000 });
  await page.getByText("The server has not answered for").waitFor({ state: "detached" });
  assert.equal(stage.hostd.url, url);
  await context.close();
});

test("after a restart of the server a page says what has happened since", async () => {
  const { page, context } = await open("/captures");
  await page.getByRole("heading", { name: "Captures", exact: true }).waitFor();
  await settled(page);
  const { folder, url } = stage.hostd;
  await stage.hostd.end();
  await page.getByText("The server has not answered for").waitFor();
  stage.hostd = await startHostd(SERVER, { folder, listen: new URL(url).host, more: MORE });
  await capture("after the restart", 100_000);
  await page.getByRole("link", { name: "after the restart" }).waitFor({ timeout: 10_000 });
  // Events are back, too: a page that asked would take three seconds.
  await settled(page, 1000);
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await new Promise((later) => setTimeout(later, 4000));
  assert.deepEqual(asked, []);
  await context.close();
});
