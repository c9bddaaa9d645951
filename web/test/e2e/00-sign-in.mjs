// The first start, and how people come in and go out. First of all: the others use the session that it makes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bare, findings, open, screenshot, stage } from "../stage.mjs";

test("the link of the first start signs in, and its code leaves the address", async () => {
  const { context, page, said } = await bare();
  await page.goto(stage.link);
  await page.getByRole("heading", { name: "Devices" }).waitFor();
  assert.equal(new URL(page.url()).hash, "");
  stage.state = await context.storageState();
  assert(stage.state.cookies.every(({ httpOnly, sameSite }) => httpOnly && sameSite === "Lax"));
  assert.deepEqual(await page.evaluate(() => [document.cookie, Object.keys(localStorage)]), ["", []]);
  assert.deepEqual(said, []);
  await context.close();
});

test("without a session a page asks to sign in, and leads back", async () => {
  const { context, page } = await bare();
  await page.goto(`${stage.url}/captures?q=boot`);
  await page.waitForURL("**/sign-in?to=%2Fcaptures%3Fq%3Dboot");
  await page.getByRole("heading", { name: "Sign in to hostd" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "sign-in-1400-light");
  await page.getByLabel("One-time code").fill("ABCD-EFGH");
  await page.getByRole("button", { name: "Sign in with the code" }).click();
  await page.getByText("invalid_credential").waitFor();
  await context.close();
});

test("a link leads to no other server after the sign-in", async () => {
  for (const to of ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]) {
    const { page, context } = await bare({ storageState: stage.state });
    await page.route("**/api/auth/session", (route) => (route.request().method() === "POST" ? route.fulfill({ json: {} }) : route.continue()));
    await page.goto(`${stage.url}/sign-in?to=${encodeURIComponent(to)}#code=x`);
    await page.getByRole("heading", { name: "Devices" }).waitFor();
    assert.equal(new URL(page.url()).origin, stage.url, to);
    await context.close();
  }
});

test("colours are chosen and kept", async () => {
  const { page, silent } = await open("/devices", { colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.getByLabel("Colours").selectOption("dark");
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.reload();
  await page.getByRole("heading", { name: "Devices" }).waitFor();
  assert.equal(await ground(), dark);
  await silent();
});
