import assert from "node:assert/strict";
import { test } from "node:test";
import { Annotations } from "../src/model/annotations.ts";
import { asHex, asText, conversation } from "../src/model/conversation.ts";
import { captureOf, parseTrace } from "../src/model/trace.ts";

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
