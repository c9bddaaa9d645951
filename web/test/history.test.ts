import assert from "node:assert/strict";
import { test } from "node:test";
import { type CaseRuns, type Went, judgement } from "../src/model/history.ts";

const WORDS: Readonly<Record<string, Went>> = { p: "passed", f: "failed", b: "broken", s: "skipped" };

/** `f1 p2`: the newest first, outcome and device; the rest as the server counts it. */
function history(text: string, flaky_rate: number | null = null): CaseRuns {
  const runs = text.split(" ").map((word, i) => ({ outcome: WORDS[word[0]!]!, device: word[1] ?? null, job: `job${i}` }));
  const of = (outcome: Went, device?: string) => runs.filter((run) => run.outcome === outcome && (device === undefined || run.device === device)).length;
  const judged = runs.filter(({ outcome }) => outcome === "passed" || outcome === "failed");
  const good = judged.findIndex(({ outcome }) => outcome === "passed");
  const bad = judged.slice(0, good < 0 ? judged.length : good).at(-1);
  const ids = [...new Set(runs.flatMap(({ device }) => device ?? []))];
  return { runs, passed: of("passed"), failed: of("failed"), broken: of("broken"), flaky_rate, first_bad: bad ? { job: bad.job } : null, devices: ids.map((device) => ({ device, name: `bench-${device}`, passed: of("passed", device), failed: of("failed", device) })) };
}

const said = (text: string, flaky?: number): readonly string[] => {
  const { word, text: sentence } = judgement(history(text, flaky));
  return [word, sentence];
};

test("a case that fails on one device alone is a matter of that bench", () => {
  assert.deepEqual(said("f1 p2 f1 p2", 1), ["Fails", "It fails on bench-1 and passes on bench-2: look at the first, its wiring and its board."]);
  assert.deepEqual(said("p2 f1 p2 f1", 1), ["Wavers", "It fails on bench-1 and passes on bench-2: look at the first, its wiring and its board."]);
});

test("a case that fails on all devices is a matter of the firmware", () => {
  assert.deepEqual(said("f1 f2 b1 p1 p2"), ["Fails", "It fails on bench-1, bench-2: look at the firmware, or at the test."]);
  assert.deepEqual(said("f f p"), ["Fails", "No device takes part: look at the change since then."]);
});

test("what cannot be told is not claimed", () => {
  assert.deepEqual(said("f1 f1 p1"), ["Fails", "It ran on bench-1 alone. Run it on another device to tell firmware from bench."]);
  assert(said("f1 p1 p2")[1]!.startsWith("Since then it ran on bench-1 alone; it passed on bench-2 before."));
  assert.deepEqual(said("b1 b1 s1"), ["Bench problem", "Each time something of the bench broke, so nothing is known of the firmware."]);
  assert.deepEqual(said("s1"), ["Not run", ""]);
});

test("a case that passes now does not alarm", () => {
  assert.deepEqual(said("p1 p1"), ["Passes", ""]);
  assert.deepEqual(said("p1 b1 p1"), ["Passes", "What broke was the bench, not the firmware."]);
  assert.deepEqual(said("p1 f1 p1"), ["Passes", "It failed earlier, and no longer does."]);
  assert.deepEqual(said("p1 f1", 0.5)[0], "Wavers");
});
