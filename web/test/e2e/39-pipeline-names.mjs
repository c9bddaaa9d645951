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
  const { page, silent } = await open("/jobs/submit");
  const editor = page.getByLabel("Pipeline", { exact: true });
  await page.getByText("Nothing wrong so far").waitFor();
  await editor.fill(PIPELINE);
  await page.getByRole("button", { name: "Line 9 There is no secret SIGNING." }).click();
  await page.getByText("There is no device dem now: a job waits until there is.").waitFor();
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
  await put("dem }", "Devices", "demo");
  assert.equal(await editor.inputValue(), PIPELINE.replace("dem }", "demo }").replace("SIGNING", "SIGNING_KEY"));
  await page.getByText("Nothing wrong so far").waitFor();
  assert.equal(await page.getByText(/There is no (secret|device)/).count(), 0);
  await silent();
  await api("/secrets/SIGNING_KEY", undefined, { method: "DELETE" });
});
