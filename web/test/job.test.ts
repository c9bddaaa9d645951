import assert from "node:assert/strict";
import { test } from "node:test";
import { Annotations } from "../src/model/annotations.ts";
import { asHex, asText, conversation } from "../src/model/conversation.ts";
import { HeldSource, JoinedSource } from "../src/model/joined.ts";
import { parseJunit } from "../src/model/junit.ts";
import { HIGH, LOW, STRETCHES, type TileSource } from "../src/model/tiles.ts";
import { captureOf, parseTrace } from "../src/model/trace.ts";
import { drawing, roundValues } from "../src/model/trend.ts";
import { limits, quantity } from "../src/model/quantity.ts";

test("a trace has steps, captures, lines and rails on one axis", () => {
  const trace = parseTrace([
    { args: { name: "smoke" }, name: "thread_name", ph: "M", tid: 1 },
    { args: { sort_index: 1 }, name: "thread_sort_index", ph: "M", tid: 1 },
    { dur: 1000, name: "power on", ph: "X", tid: 1, ts: 2000 },
    { args: { name: "demo" }, name: "thread_name", ph: "M", tid: 2 },
    { id: "01C", name: "boot", ph: "b", tid: 2, ts: 3000 },
    { id: "01C", name: "boot", ph: "e", tid: 2, ts: 2_003_000 },
    { id: "01D", name: "broke off", ph: "b", tid: 2, ts: 4000 },
    { args: { V: 5, mA: 30 }, name: "demo internal", ph: "C", tid: 0, ts: 5000 },
    { args: { V: 0, mA: 0 }, name: "demo internal", ph: "C", tid: 0, ts: 1000 },
    { args: { V: 0, mA: 0 }, name: "demo external", ph: "C", tid: 0, ts: 1000 },
    { name: "APP_OK", ph: "i", tid: 3, ts: 6000 },
  ]);
  assert.deepEqual(trace.tracks.map(({ name }) => name), ["smoke", "demo", "3"]);
  assert.equal(trace.seconds, 2.003);
  assert.deepEqual(trace.rails.map(({ name, points }) => [name, points.map(({ volts }) => volts)]), [["demo internal", [0, 5]]]);
  assert.deepEqual(captureOf(trace, "01C"), { id: "01C", name: "boot", from: 0.003, to: 2.003 });
  assert.equal(captureOf(trace, "01D")!.to, 2.003);
});

test("a conversation has turns", () => {
  const [rx, tx] = [new Annotations(), new Annotations()];
  const say = (row: Annotations, line: string, at: number, text: string): void => [...text].forEach((c, i) => row.add({ start: at + i * 10, end: at + i * 10 + 9, kind: `${line}-data`, text: c.charCodeAt(0).toString(16) }));
  say(tx, "tx", 0, "AT\r");
  say(rx, "rx", 15, "a");
  say(rx, "rx", 100, "OK\nREADY");
  say(rx, "rx", 400, "!");
  rx.add({ start: 410, end: 420, kind: "rx-warnings", text: "Frame error" });
  const turns = conversation([{ line: "rx", annotations: rx }, { line: "tx", annotations: tx }], 50);
  assert.deepEqual(turns.map(({ line, bytes, faults }) => [line, asText(bytes), faults]), [
    ["tx", "AT", 0], ["rx", "a", 0], ["tx", "\\r", 0], ["rx", "OK", 0], ["rx", "READY", 0], ["rx", "!", 1],
  ]);
  assert.equal(asHex([0, 255, 10]), "00 FF 0A");
});

test("cases of a JUnit file", () => {
  const cases = parseJunit(`<?xml version="1.0"?><!-- <testcase name="no"/> -->
<testsuites><testsuite name="smoke &amp; more"><properties><property name="a" value="&gt;"/></properties>
 <testcase name="fine" classname="smoke" time="0.016"/>
 <testcase name="wrong" classname="smoke" time="1.5"><failure message="5 &lt; 6" type="x">5 &lt; 6
there</failure><system-out>hostd.capture.boot: http://x/api/capture/01M8GY8TQXPEFZQNJRMZ34VVSJ
hello</system-out></testcase>
 <testcase name="later"><skipped>not reached</skipped></testcase>
 <testcase name="broke"><error><![CDATA[<b>&amp;]]></error></testcase></testsuite></testsuites>`);
  assert.deepEqual(cases.map(({ run, name, outcome, message }) => [run, name, outcome, message]), [
    ["smoke & more", "fine", "passed", ""],
    ["smoke & more", "wrong", "failed", "5 < 6"],
    ["smoke & more", "later", "skipped", "not reached"],
    ["smoke & more", "broke", "error", "<b>&amp;"],
  ]);
  assert.equal(cases[1]!.detail, "5 < 6\nthere");
  assert.deepEqual(cases[1]!.captures, { boot: "01M8GY8TQXPEFZQNJRMZ34VVSJ" });
  assert.equal(cases[1]!.seconds, 1.5);
  assert.deepEqual(parseJunit("<testsuite><testcase name='cut off'"), []);
});

/** A lane that is high in every eighth sample, at one sample for each stretch of each level. */
const ticking = (samples: number, rate: number): TileSource => ({
  lanes: [{ name: "LA1", kind: "digital", unit: "" }],
  rate,
  samples,
  load: (level, index) => {
    const levels = Uint8Array.from({ length: STRETCHES }, (_, i) => {
      let level0 = 0;
      for (let s = (index * STRETCHES + i) * 2 ** level; s < Math.min(samples, (index * STRETCHES + i + 1) * 2 ** level); s++) level0 |= s % 8 === 0 ? HIGH : LOW;
      return level0;
    });
    return Promise.resolve({ level, index, parts: [{ kind: "digital", levels }] });
  },
});

test("captures of other rates and beginnings lie on one axis", async () => {
  const stop = new AbortController().signal;
  const joined = new JoinedSource([{ source: ticking(4000, 1000), from: 0 }, { source: ticking(1000, 250), from: 0.5 }], 4, 1);
  assert.equal(joined.rate, 1000);
  assert.equal(joined.samples, 4500);
  const levelsAt = async (lane: number, sample: number): Promise<number> => {
    const tile = await joined.load(0, Math.floor(sample / STRETCHES), stop);
    const part = tile.parts[lane]!;
    return part.kind === "digital" ? part.levels[sample % STRETCHES]! : 0;
  };
  for (const sample of [0, 1, 8, 1023, 1024, 3999]) assert.equal(await levelsAt(0, sample), sample % 8 === 0 ? HIGH : LOW, `${sample}`);
  assert.equal(await levelsAt(0, 4000), 0);
  // Four samples of the axis are one of the slow capture, which begins at 500.
  for (const sample of [500, 503, 504, 531, 532, 1524, 4499]) assert.equal(await levelsAt(1, sample), Math.floor((sample - 500) / 4) % 8 === 0 ? HIGH : LOW, `slow ${sample}`);
  assert.equal(await levelsAt(1, 499), 0);
  const [far] = (await joined.load(3, 0, stop)).parts;
  assert(far!.kind === "digital" && far!.levels.subarray(0, 500).every((level) => level === (LOW | HIGH)));
});

test("a rail holds its value until it is measured again", async () => {
  const rail = new HeldSource([{ name: "V", kind: "analog", unit: "V" }], [0.1, 0.2], [[5, 3]], 1, 1000);
  const { parts } = await rail.load(0, 0);
  const part = parts[0]!;
  assert(part.kind === "analog");
  assert(Number.isNaN(part.min[99]!));
  assert.deepEqual([part.min[100], part.max[199], part.min[200], part.max[999]], [5, 5, 3, 3]);
  const top = (await rail.load(7, 0)).parts[0]!;
  assert(top.kind === "analog");
  assert.deepEqual([top.min[1], top.max[1], top.min.length], [3, 5, 8]);
});

test("values over time keep their order and limits", () => {
  const { points, low, high, marks } = drawing([{ at: 3, value: 9, low: 4, high: undefined }, { at: 1, value: 5, low: 4, high: undefined }, { at: 2, value: 7, low: 6, high: 8 }], 300, 100);
  assert.deepEqual(points.map(({ x, of }) => [x, of.value]), [[50, 5], [150, 7], [250, 9]]);
  assert(points[0]!.y > points[1]!.y && points[1]!.y > points[2]!.y);
  assert.deepEqual(low.map(({ x, to }) => [x, to]), [[0, 100], [100, 200], [200, 300]]);
  assert.deepEqual(high.map(({ x, to }) => [x, to]), [[100, 200]]);
  assert(marks.length >= 2 && marks.every(({ y }) => y >= 0 && y <= 100));
  assert.deepEqual(roundValues(0, 10), [0, 5, 10]);
  assert.equal(drawing([{ at: 1, value: 0, low: undefined, high: undefined }], 10, 10).points[0]!.y, 5);
});

test("quantities have their units", () => {
  assert.equal(quantity(5e-6, "s"), "5 µs");
  assert.equal(quantity(-0.0021, "V"), "−2.1 mV");
  assert.equal(quantity(1.0012e6, "Hz"), "1.001 MHz");
  assert.equal(quantity(3, "count"), "3 count");
  assert.equal(quantity(0, "V"), "0 V");
  assert.equal(limits(4e-6, undefined, "s"), "at least 4 µs");
  assert.equal(limits(undefined, undefined, "s"), "none");
});
