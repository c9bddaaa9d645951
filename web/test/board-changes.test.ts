import assert from "node:assert/strict";
import { test } from "node:test";
import type { EmiChange, EmiKept } from "../src/api/schema.ts";
import { changesOf, summaryOf } from "../src/model/board-changes.ts";

const finding = { assumed: [], at: { layer: "F.Cu", x: 0, y: 0 }, detail: "", fingerprint: "", id: "f1", layer: "F.Cu", net: "", rule: "r", severity: "warning", title: "", x: 0, y: 0 } as const;

test("findings are found again by their fingerprints", () => {
  const fresh: EmiChange[] = [{ ...finding, fingerprint: "a", certain: true }, { ...finding, fingerprint: "b", certain: false }];
  const kept: EmiKept[] = [{ ...finding, fingerprint: "c" }, { ...finding, fingerprint: "d", was: "info" }];
  assert.deepEqual([...changesOf({ new: fresh, kept })].sort(), [["a", { kind: "new" }], ["b", { kind: "perhaps" }], ["d", { kind: "was", was: "info" }]]);
});

test("the summary counts all severities, and leaves out what is not", () => {
  const none = { critical: 0, warning: 0, info: 0 };
  const all = { new: { critical: 1, warning: 2, info: 3 }, worse: none, gone: none, kept: { ...none, info: 4 }, perhaps_new: none, perhaps_gone: { ...none, warning: 1 } };
  assert.equal(summaryOf(all), "6 new, 0 gone, 1 perhaps gone, 4 as before");
});
