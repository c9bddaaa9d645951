// Settings of the organisation: secrets, webhooks, badges, and what a member sees of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, findings, member, open, screenshot, stage } from "../stage.mjs";

const VALUE = "correct horse battery";

test("settings begin with nothing", async () => {
  for (const { name } of (await api("/secrets")).secrets) await api(`/secrets/${name}`, undefined, { method: "DELETE" });
  for (const list of ["webhooks", "badges"]) for (const { id } of (await api(`/${list}`))[list]) await api(`/${list}/${id}`, undefined, { method: "DELETE" });
});

test("a secret is written, replaced and removed, and its value is shown nowhere", async () => {
  const { page, silent } = await open("/settings");
  await page.getByRole("heading", { name: "No secrets yet" }).waitFor();
  await page.getByRole("button", { name: "Add a secret" }).click();
  await page.getByLabel("Name", { exact: true }).fill("cal_token");
  await page.getByLabel("Value").fill(VALUE);
  await page.getByLabel("Only for jobs of these refs").fill("main, release/*");
  await page.getByText("env: { CAL_TOKEN: { secret: CAL_TOKEN } }").last().waitFor();
  assert.deepEqual(await findings(page), []);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("rowheader", { name: "CAL_TOKEN" }).waitFor();
  await page.getByRole("cell", { name: "Ready" }).waitFor();
  assert.deepEqual((await api("/secrets")).secrets.map(({ name, refs }) => [name, refs]), [["CAL_TOKEN", ["main", "release/*"]]]);
  await page.getByRole("button", { name: "Replace" }).click();
  assert.equal(await page.getByLabel("Value").inputValue(), "");
  await page.getByLabel("Value").fill(`${VALUE} staple`);
  await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert(!(await page.content()).includes(VALUE));
  await screenshot(page, "settings-secrets");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByLabel("Type “CAL_TOKEN” to confirm").fill("CAL_TOKEN");
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "No secrets yet" }).waitFor();
  await silent();
});

test("what is wrong with a secret is said at its field", async () => {
  const { page, context } = await open("/settings?sheet=new");
  await page.getByLabel("Name", { exact: true }).fill("HOSTD_X");
  await page.getByLabel("Value").fill("long enough");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.locator(".field.wrong").getByText(/the server's own/).waitFor();
  await context.close();
});

test("a webhook is added, its secret shown once, and its messages are seen", async () => {
  const { page, silent } = await open("/settings/webhooks");
  await page.getByRole("heading", { name: "No webhooks yet" }).waitFor();
  await page.getByRole("button", { name: "Add a webhook" }).click();
  await page.getByLabel("Address").fill("https://receiver.invalid/hooks/bench");
  await page.getByLabel("Only jobs named").fill("blinky");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const first = await page.getByLabel("Secret", { exact: true }).inputValue();
  assert.match(first, /^whsec_/);
  assert.deepEqual(await findings(page), []);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByText("jobs blinky").waitFor();
  assert(!(await page.content()).includes(first));
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByRole("rowheader", { name: "webhook.test" }).waitFor();
  await page.getByText(/name is not known/).waitFor();
  await page.getByRole("cell", { name: "Will be retried" }).waitFor();
  await screenshot(page, "settings-webhook");
  await page.getByRole("button", { name: "New secret" }).click();
  await page.getByRole("button", { name: "Make it" }).click();
  assert.notEqual(await page.getByLabel("Secret", { exact: true }).inputValue(), first);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("On: messages are sent").uncheck();
  await page.getByRole("dialog").getByRole("button", { name: "Change" }).click();
  await page.getByText("It is off").waitFor();
  assert(await page.getByRole("button", { name: "Send a test" }).isDisabled());
  assert.equal((await api("/webhooks")).webhooks[0].enabled, false);
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "No webhooks yet" }).waitFor();
  await silent();
});

test("a message that was given up is sent again", async () => {
  const { id } = await api("/webhooks", { url: "https://receiver.invalid/" });
  const { page, context } = await open("/devices");
  const message = { id: "msg_1", event: "job.finished", job: null, phase: "failed", attempts: 9, created_at: "2026-11-28T10:00:00Z", tried_at: "2026-11-28T10:00:00Z", status: 500, error: "the receiver failed", next_at: null };
  const asked = [];
  await page.route("**/deliveries", (route) => route.fulfill({ json: { deliveries: [message] } }));
  await page.route("**/redeliver", (route) => {
    asked.push(`${route.request().method()} ${new URL(route.request().url()).pathname}`);
    return route.fulfill({ json: { ...message, phase: "waiting" } });
  });
  await page.goto(`${stage.url}/settings/webhooks?webhook=${id}`);
  await page.getByText("status 500: the receiver failed").waitFor();
  await page.getByRole("button", { name: "Send again" }).click();
  await page.waitForTimeout(100);
  assert.deepEqual(asked, [`POST /api/webhooks/${id}/deliveries/msg_1/redeliver`]);
  await context.close();
  await api(`/webhooks/${id}`, undefined, { method: "DELETE" });
});

test("a badge is made, and its address and picture are there to copy", async () => {
  const { page, context, silent } = await open("/settings/badges");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Make a badge" }).click();
  await page.getByLabel("Name of the jobs").fill("blinky");
  await page.getByLabel("Label").fill("the <bench>");
  await page.getByRole("button", { name: "Make it" }).click();
  const picture = page.getByRole("img", { name: "the <bench>: unknown" });
  await picture.waitFor();
  assert(await picture.evaluate((image) => image.decode().then(() => image.naturalWidth > 60)));
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByRole("button", { name: "Copy" }).nth(1).click();
  await page.getByText("Markdown copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const address = /\((.*)\)$/.exec(copied)[1];
  assert.match(await (await fetch(address)).text(), /^<svg /);
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "settings-badge");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByLabel("Type “the <bench>” to confirm").fill("the <bench>");
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "No badges yet" }).waitFor();
  assert.equal((await fetch(address)).status, 404);
  await silent();
});

test("a member sees the names of secrets, and what is for administrators is said to be", async () => {
  await api("/secrets/SIGNING_KEY", { value: VALUE }, { method: "PUT" });
  const storageState = await member();
  const { page, silent } = await open("/settings", { storageState });
  await page.getByRole("rowheader", { name: "SIGNING_KEY" }).waitFor();
  await page.getByText("Administrators write them.").waitFor();
  for (const name of ["Add a secret", "Replace", "Remove"]) await page.getByRole("button", { name }).waitFor({ state: "detached" });
  await silent();
  for (const [path, words, button] of [["/settings/webhooks", /Managing webhooks takes an admin/, "Add a webhook"], ["/settings/badges", /Managing badges takes an admin/, "Make a badge"], ["/people", /Only admins and owners see the users/, "Add a user"], ["/people/trust", /Only admins and owners manage trust rules/, "Let a repository in"], ["/plugins", /Plugins take an admin/, "Install"]]) {
    const { page: refused, context } = await open(path, { storageState });
    await refused.getByText(words).first().waitFor();
    // Until it is known who is signed in, nothing is hidden.
    await refused.getByRole("button", { name: button }).waitFor({ state: "detached" });
    assert.deepEqual(await findings(refused), []);
    await context.close();
  }
  await api("/secrets/SIGNING_KEY", undefined, { method: "DELETE" });
});
