// The console beyond its line: a target without power, earlier lines, the end, what is saved, what stands in the address.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FIRMWARE, api, findings, open, screenshot, stage } from "../stage.mjs";

const power = (state) => api(`/bench/devices/${stage.device}/command`, { command: { cmd: "target_power", efuse: 1, state } });

test("a console says that its target is off, and switches it on", async () => {
  const form = new FormData();
  form.set("target", "target/stm32f0x.cfg");
  form.set("firmware", new Blob([readFileSync(FIRMWARE)]), "demo.elf");
  await power(1);
  assert.equal((await api(`/bench/devices/${stage.device}/flash`, form)).ok, true);
  await power(0);
  const { page, silent } = await open(`/devices/${stage.device}/console?times=1`);
  await page.getByText("Live").waitFor();
  await page.getByText("The target is off, so it says nothing.").waitFor();
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "console-no-power");
  await page.getByRole("switch", { name: "5 V rail of demo" }).click();
  await page.getByText("The target is off, so it says nothing.").waitFor({ state: "detached" });
  await page.getByText("APP_OK").first().waitFor({ timeout: 30_000 });
  await page.locator(".stamp", { hasText: /^\d\d:\d\d:\d\d\.\d{3}$/ }).first().waitFor();
  const line = page.getByLabel("Line to send");
  for (const text of ["help", "status"]) {
    await line.fill(text);
    await line.press("Enter");
  }
  await page.getByText("commands:").first().waitFor();
  await line.press("ArrowUp");
  await line.press("ArrowUp");
  assert.equal(await line.inputValue(), "help");
  await line.press("ArrowDown");
  await line.press("ArrowDown");
  assert.equal(await line.inputValue(), "");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save" }).click()]);
  assert.match(readFileSync(await saved.path(), "utf8"), /^\d\d:\d\d:\d\d\.\d{3} {2}.*APP_OK$/m);
  await page.getByLabel("Hex").check();
  await page.waitForFunction(() => new URL(location.href).searchParams.has("hex"));
  const [bytes] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save" }).click()]);
  assert.match(readFileSync(await bytes.path(), "latin1"), /APP_OK\r\n/);
  await silent();
});

test("wide and combining characters stand in their columns", async () => {
  const { page, silent } = await open("/sign-in");
  const rows = ["| 漢字 | end", "| abcd | end", "| 👍👨‍👩‍👧 | end", "| \x1b[32m한\x1b[0mｱﾆ | end", "| n\u0303o\u0301ab | end"];
  await page.routeWebSocket("**/uart/ws*", (socket) => {
    socket.send(JSON.stringify({ type: "open", device_id: stage.device, rx: 3, tx: 4, baud: 115200, writable: true, offset: 0, because: "connected" }));
    // The last one is put together from its end: the program counts columns, too.
    socket.send(Buffer.from(`${rows.join("\r\n")}\r\n\x1b[8G| end\r\x1b[3G漢字\r| \x1b[7D\x1b[1;1H`));
  });
  await page.goto(`${stage.url}/devices/${stage.device}/console`);
  await page.getByText("end").nth(5).waitFor();
  const ends = await page.evaluate(() => [...document.querySelectorAll(".screen .there > div")].flatMap((row) => {
    const at = row.textContent.lastIndexOf("|");
    if (at < 0) return [];
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    let before = 0;
    for (let node = walker.nextNode(); node; before += node.data.length, node = walker.nextNode()) {
      if (at < before || at >= before + node.data.length) continue;
      const range = new Range();
      range.setStart(node, at - before);
      range.setEnd(node, at - before + 1);
      return [range.getBoundingClientRect().left];
    }
    return [];
  }));
  assert.equal(ends.length, 6);
  for (const left of ends) assert(Math.abs(left - ends[0]) < 1, ends.join(" "));
  await screenshot(page, "console-wide");
  await silent();
});
