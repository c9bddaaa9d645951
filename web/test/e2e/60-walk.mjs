// The first five minutes: from the link that a first start prints to decoded values on the screen, by a person who has read
// nothing. Nothing is typed into the address, and everything is found by the words on the screen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startHostd } from "../../dev/hostd.mjs";
import { FIRMWARE, MORE, SERVER, bare, screenshot } from "../stage.mjs";

const FIVE_MINUTES = 300_000;

test("the first five minutes", async () => {
  const hostd = await startHostd(SERVER, { more: MORE });
  try {
    const { context, page, said } = await bare();
    const began = Date.now();
    await page.goto(`${hostd.url}/sign-in#code=${hostd.code()}`);

    await page.getByRole("heading", { name: "Three steps to the first capture" }).waitFor();
    await page.getByRole("switch", { name: "Power of the target of demo" }).click();
    await page.getByText("Switch the target on, done").waitFor();

    await page.getByRole("link", { name: "demo", exact: true }).click();
    await page.getByRole("navigation", { name: "Device" }).getByRole("link", { name: "Flash" }).click();
    await page.getByLabel("Choose firmware").setInputFiles(FIRMWARE);
    await page.getByText("ELF,").waitFor();
    await page.getByRole("button", { name: "Flash", exact: true }).click();
    await page.getByText("Flashed", { exact: true }).waitFor({ timeout: 60_000 });
    await screenshot(page, "walk-flashed");

    // A person is slow: the target has said its first words before the console is open.
    await page.waitForTimeout(4000);
    await page.getByRole("link", { name: "Open the console" }).click();
    await page.getByText("Live").waitFor();
    await page.getByText("The target has said nothing since this page was opened.").waitFor();
    await screenshot(page, "walk-console-silent");
    await page.getByRole("button", { name: "Restart the target" }).click();
    await page.getByText("APP_OK").first().waitFor({ timeout: 10_000 });
    await screenshot(page, "walk-console");

    await page.getByRole("link", { name: "Devices" }).click();
    await page.getByRole("button", { name: "Capture one second" }).click();
    await page.getByRole("heading", { name: "first capture" }).waitFor({ timeout: 20_000 });
    await page.getByText("Address write: 68").first().waitFor();
    await screenshot(page, "walk-capture");

    const took = Date.now() - began;
    assert(took < FIVE_MINUTES, `it took ${took} ms`);
    assert.deepEqual(said, []);
    await context.close();
  } finally {
    await hostd.stop();
  }
});
