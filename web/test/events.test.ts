import assert from "node:assert/strict";
import { test } from "node:test";
import { EventReader, type Happened, concerns, isTold } from "../src/model/events.ts";

const read = (text: string): readonly Happened[] => {
  const reader = new EventReader();
  return text.split("\n").flatMap((line) => reader.line(line) ?? []);
};

const happened = (kind: string, more: Partial<Happened> = {}): Happened => ({ kind, place: "a-1", details: {}, ...more });

test("a stream is read line by line", () => {
  const found = read('retry: 1000\nid: a-1\nevent: ready\ndata: {}\n\n: still there\n\nid: a-2\r\nevent: lease.taken\r\ndata: {"subject":"01D",\r\ndata: "device":{"id":"01D","name":"x: y"},"holder":"ada"}\n\n');
  assert.deepEqual(found, [
    { kind: "ready", place: "a-1", details: {} },
    { kind: "lease.taken", place: "a-2", subject: "01D", device: "01D", details: { subject: "01D", device: { id: "01D", name: "x: y" }, holder: "ada" } },
  ]);
});

test("what is no JSON, has no device or no subject is an event all the same", () => {
  assert.deepEqual(read('event: job.queued\ndata: {"subject":"01J"}\n\nevent: odd\ndata: {\n\nevent: none\ndata: null\n\nevent: gone\ndata: {"device":null}\n\n').map(({ kind, subject, device }) => [kind, subject, device]), [
    ["job.queued", "01J", undefined],
    ["odd", undefined, undefined],
    ["none", undefined, undefined],
    ["gone", undefined, undefined],
  ]);
});

test("an event concerns what it changes, and nothing else", () => {
  const taken = happened("lease.taken", { device: "01D", subject: "01D" });
  assert(concerns("devices", taken) && concerns("device 01D", taken) && concerns("power 01D true", taken));
  for (const key of ["device 01E", "captures undefined", "jobs undefined", "flashes 01D", "keys", "device"]) assert(!concerns(key, taken), key);
  const done = happened("capture.done", { device: "01D", subject: "01C" });
  assert(concerns("captures 01D", done) && concerns("captures any", done) && concerns("capture 01C", done));
  assert(!concerns("capture 01X", done) && !concerns("device 01D", done));
  assert(concerns("flashes 01D", happened("flash.started", { device: "01D", subject: "01F" })));
  assert(concerns("job 01J", happened("job.started", { subject: "01J" })) && !concerns("measurements {}", happened("job.started", { subject: "01J" })));
  assert(concerns("measurements {}", happened("job.finished", { subject: "01J" })));
  assert(!concerns("jobs", happened("jobless")));
});

test("what events do not tell of, or not of all, is asked for", () => {
  for (const key of ["devices", "device 01D", "captures any", "jobs undefined", "flashes 01D"]) assert(isTold(key), key);
  for (const key of ["power 01D true", "keys", "users list", "flashable 01D", "constructor"]) assert(!isTold(key), key);
});
