// Every page: silent, without a finding of axe, no wider than the screen, in light and dark, on a desk and a phone; and
// in every state that it can be in.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fill, pages } from "../pages.mjs";
import { each, findings, looks, open, screenshot, settled, stage } from "../stage.mjs";

test("something to look at on each page", fill);

for (const [colorScheme, width] of looks)
    test(`no finding of axe, ${colorScheme}, ${width} px`, async () => {
      await each(pages(), async ([name, path]) => {
        const { page, silent } = await open(path, { colorScheme, viewport: { width, height: width < 640 ? 844 : 900 } });
        await page.locator("main h1").waitFor();
        await settled(page);
        await screenshot(page, `${name}-${width}-${colorScheme}`);
        assert.deepEqual(await findings(page), [], path);
        assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} is wider than the screen`);
        await silent();
      });
    });

const read = () => pages().filter(([, , request]) => request);

test("what fails says the server's sentence, and tries again when asked", () => each(read(), async ([name, path, request]) => {
  const { page, context } = await open("/sign-in");
  let fails = true;
  await page.route(request, (route) => (fails ? route.fulfill({ status: 503, json: { error: "the store is out of service", code: "store_failed", request_id: "abc123" } }) : route.continue()));
  await page.goto(stage.url + path);
  const alert = page.getByRole("alert").first();
  await alert.getByText("The store is out of service.").waitFor();
  await alert.getByText("abc123").waitFor();
  assert.deepEqual(await findings(page), [], path);
  await screenshot(page, `${name}-failed`);
  // Asked for while it still fails: what is read again and again would be there before the click.
  await alert.getByRole("button", { name: "Try again" }).click();
  fails = false;
  await alert.getByRole("button", { name: "Try again" }).click({ timeout: 1000 }).catch(() => undefined);
  await alert.waitFor({ state: "detached" });
  await context.close();
}));

test("what is forbidden names what is missing", () => each(read(), async ([, path, request]) => {
  const { page, context } = await open("/sign-in");
  await page.route(request, (route) => route.fulfill({ status: 403, json: { error: "the role member does not allow it; admins may", code: "forbidden", request_id: "abc" } }));
  await page.goto(stage.url + path);
  await page.getByText("The role member does not allow it; admins may.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0, path);
  await context.close();
}));

test("a server out of reach is said, and what was read stays", async () => {
  const { page, context } = await open("/devices");
  await page.getByRole("link", { name: "demo", exact: true }).waitFor();
  await context.setOffline(true);
  await page.getByText("The server has not answered for").waitFor();
  await page.getByText("Shown as it was").first().waitFor();
  assert(await page.getByRole("link", { name: "demo", exact: true }).isVisible());
  await screenshot(page, "devices-offline");
  await context.setOffline(false);
  await page.getByText("The server has not answered for").waitFor({ state: "detached" });
  await context.close();
});

test("what takes longer shows where it will be", async () => {
  const { page, silent } = await open("/jobs");
  await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
  let answer;
  await page.route("**/api/captures", async (route) => {
    await new Promise((go) => (answer = go));
    await route.continue();
  });
  await page.getByRole("link", { name: "Captures", exact: true }).click();
  await page.locator(".skeleton .bar").first().waitFor();
  answer();
  await page.getByRole("link", { name: "boot" }).waitFor();
  await silent();
});

test("lists that are empty say what to do", async () => {
  for (const [path, request, json, words] of [
    ["/devices", "**/api/bench/devices", { devices: [] }, "No device yet"],
    ["/captures", "**/api/captures", { captures: [] }, "No captures yet"],
    ["/jobs", "**/api/jobs", { jobs: [] }, "No jobs yet"],
    ["/waveforms", "**/api/bench/waveforms", { waveforms: [] }, "No waveforms yet"],
    ["/boards", "**/api/emi/projects", { projects: [] }, "No boards yet"],
    ["/keys", "**/api/keys", { keys: [] }, "No keys yet"],
    ["/plugins", "**/api/plugins", { plugins: [], refused: [] }, "No plugins"],
    ["/settings", "**/api/secrets", { secrets: [] }, "No secrets yet"],
    ["/settings/webhooks", "**/api/webhooks", { webhooks: [] }, "No webhooks yet"],
    ["/settings/badges", "**/api/badges", { badges: [] }, "No badges yet"],
  ]) {
    const { page, silent } = await open("/sign-in");
    await page.route(request, (route) => route.fulfill({ json }));
    await page.goto(stage.url + path);
    await page.getByRole("heading", { name: words }).waitFor();
    assert.deepEqual(await findings(page), [], path);
    await silent();
  }
});

test("a page that there is not says so", async () => {
  const { page, silent } = await open("/never/heard/of");
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await silent();
});
