// The editor of pipelines knows the secrets and devices of the organisation: offers them, and says which there are not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, findings, open, screenshot } from "../stage.mjs";

const PIPELINE = `version: 1
name: names
benches:
  - id: smoke
    device: { name: dem }
    steps:
      - run: ./calibrate.sh
        env:
          TOKEN: { secret: SIGNING }
`;

test("secrets and devices are offered where they are named, and what there is not is said", async () => {
  await api("/secrets/SIGNING_KEY", { value: "correct horse battery" }, { method: "PUT" });
  const { page, silent, said } = await open("/jobs/submit");
  const editor = page.getByLabel("Pipeline", { exact: true });
  await page.getByText("No mistakes").waitFor();
  await editor.fill(PIPELINE);
  await page.getByRole("button", { name: /^Line 9 The organisation has no secret `SIGNING`/ }).click();
  // The browser itself says that the server has refused.
  assert(said.every((line) => line.includes("422")));
  said.length = 0;
  const put = async (word, group, name) => {
    await editor.evaluate((area, at) => {
      area.setSelectionRange(area.value.indexOf(at) + 2, area.value.indexOf(at) + 2);
      area.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
    }, word);
    await page.getByRole("group", { name: group }).getByRole("button", { name, exact: true }).click();
  };
  await put("SIGNING", "Secrets", "SIGNING_KEY");
  assert.deepEqual(await findings(page), []);
  await screenshot(page, "pipeline-names");
  await page.getByText(/^smoke: No device of the organisation is what the pipeline asks for/).waitFor();
  await put("dem }", "Devices", "demo");
  assert.equal(await editor.inputValue(), PIPELINE.replace("dem }", "demo }").replace("SIGNING", "SIGNING_KEY"));
  await page.getByText(/No device of the organisation/).waitFor({ state: "detached" });
  await page.getByText("No mistakes").waitFor();
  await silent();
  await api("/secrets/SIGNING_KEY", undefined, { method: "DELETE" });
});
