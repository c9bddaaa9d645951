// Leases of people, in two browsers: who takes a device, who waits for it, who takes it over.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, bare, findings, open, screenshot, settled, stage } from "../stage.mjs";

const SOON = { timeout: 1000 };
/** A pod has some seconds to acknowledge that it is safe. */
const SAFE = { timeout: 15_000 };

/** A second person, who is no administrator. */
async function openAs(login, role, path, options = {}) {
  const owner = await stage.browser.newContext({ storageState: stage.state });
  const made = await owner.request.post(`${stage.url}/api/users`, { data: { login, role } });
  const { code } = await made.json();
  await owner.close();
  const { context, page, said } = await bare(options);
  await page.goto(`${stage.url}/sign-in?to=${encodeURIComponent(path)}#code=${code}`);
  await page.getByRole("heading", { name: "demo" }).waitFor();
  const close = async () => {
    assert.deepEqual(said.filter((line) => !/status of 409|handshake.* 409$/.test(line)), []);
    await context.close();
  };
  return { page, close };
}

const button = (page, name) => page.getByRole("button", { name, exact: true });

test("a device that one person takes is another one's to wait for", async () => {
  const at = `/devices/${stage.device}`;
  const ada = await open(at);
  const bob = await openAs("bob", "member", at);
  await Promise.all([settled(ada.page), settled(bob.page)]);
  await button(ada.page, "Take the device").click();
  await ada.page.getByText("Yours", { exact: true }).waitFor(SOON);
  await bob.page.locator(".lease b", { hasText: "owner" }).waitFor(SOON);
  await screenshot(ada.page, "lease-mine");

  // Who has it drives it; the other one is told why not.
  assert(await ada.page.getByRole("switch", { name: "Internal 5 V" }).isEnabled());
  assert(await bob.page.getByRole("switch", { name: "Internal 5 V" }).isDisabled());
  await bob.page.getByText("owner holds this device.").first().waitFor();
  assert.equal(await button(bob.page, "Take over").count(), 0);
  await button(bob.page, "Wait in line").click();
  await bob.page.getByText("You are next").waitFor();
  assert.deepEqual(await findings(bob.page), []);
  // What needs the device says so, too.
  for (const tab of ["captures?sheet=start", "flash", "wiring", "console"]) {
    await bob.page.goto(`${stage.url}${at}/${tab}`);
    await bob.page.locator("main, dialog").getByText(/owner holds this device/).last().waitFor();
  }
  await bob.page.goBack();
  await bob.page.getByText("You are next").or(button(bob.page, "Wait in line")).waitFor();
  if (await button(bob.page, "Wait in line").count()) await button(bob.page, "Wait in line").click();
  await bob.page.getByText("You are next").waitFor();
  await screenshot(bob.page, "lease-waiting");

  await button(ada.page, "Give back").click();
  await bob.page.getByText("demo is yours now.").waitFor(SAFE);
  await bob.page.getByText("Yours", { exact: true }).waitFor(SOON);
  await ada.page.locator(".lease b", { hasText: "bob" }).waitFor(SOON);

  // An administrator takes it over.
  await button(ada.page, "Take over").click();
  await ada.page.getByText("bob loses the device at once").waitFor();
  assert.deepEqual(await findings(ada.page), []);
  await screenshot(ada.page, "lease-take-over");
  await ada.page.getByRole("dialog").getByRole("button", { name: "Take over" }).click();
  await ada.page.getByText("Yours", { exact: true }).waitFor(SAFE);
  await bob.page.getByText("Your lease of demo was ended by an administrator.").waitFor(SOON);
  await bob.page.locator(".lease b", { hasText: "owner" }).waitFor(SOON);

  await button(ada.page, "Give back").click();
  await button(bob.page, "Take the device").waitFor(SAFE);
  await bob.close();
  await ada.context.close();
});

test("a lease is kept while a tab is open, goes with it into other pages, and ends when the person leaves", async () => {
  const { page, close } = await openAs("cleo", "member", `/devices/${stage.device}`);
  const other = await open("/people/leases");
  await page.clock.install();
  await page.reload();
  await button(page, "Take the device").click();
  await page.getByText("Yours", { exact: true }).waitFor();
  const expiry = async () => (await api(`/bench/devices/${stage.device}`)).lease?.expires_at;
  const first = await expiry();
  await page.getByRole("link", { name: "Captures", exact: true }).first().click();
  const kept = page.waitForResponse((response) => response.url().endsWith("/lease") && response.ok());
  await new Promise((later) => setTimeout(later, 1100));
  await page.clock.runFor(45_000);
  await kept;
  assert(await expiry() > first);
  await other.page.getByRole("row", { name: /cleo/ }).waitFor(SOON);
  await page.getByRole("button", { name: /cleo/ }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await other.page.getByRole("heading", { name: "Nobody holds a device" }).waitFor(SAFE);
  await close();
  await other.silent();
});

test("a lease that a program takes away is said, and one tab keeps what another one took", async () => {
  const one = await open(`/devices/${stage.device}`);
  await button(one.page, "Take the device").click();
  await one.page.getByText("Yours", { exact: true }).waitFor();
  const two = await open(`/devices/${stage.device}/console`);
  await two.page.getByText("Yours", { exact: true }).waitFor();
  await two.page.getByText("Live").waitFor();
  assert(await two.page.getByRole("button", { name: "Break" }).isEnabled());
  await button(two.page, "Give back").click();
  await button(one.page, "Take the device").waitFor(SAFE);
  await one.silent();
  await two.context.close();
});
