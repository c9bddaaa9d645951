import assert from "node:assert/strict";
import { test } from "node:test";
import { CONDITIONS, DRAFT, busAddress, byteSequence, faults, nanoseconds, triggerOf } from "../src/model/trigger.ts";

test("times with their units", () => {
  assert.deepEqual(["10 us", "1.5ms", " 2 s ", "500 ns", "3 µs", "3 μs"].map(nanoseconds), [10_000, 1_500_000, 2e9, 500, 3000, 3000]);
  for (const wrong of ["", "10", "us", "-1 us", "0.2 ns", "1 h", "1 2 us"]) assert.equal(nanoseconds(wrong), undefined, wrong);
});

test("bytes and addresses as people write them", () => {
  assert.equal(byteSequence("55aa ??,0x01"), "55 AA ?? 01");
  for (const wrong of ["", "5", "55 A", "?", "hello", "5 5?"]) assert.equal(byteSequence(wrong), undefined, wrong);
  assert.deepEqual(["76", "0x76", " 8 ", "7F"].map(busAddress), ["0x76", "0x76", "0x08", "0x7f"]);
  for (const wrong of ["", "80", "0xEC", "x", "123"]) assert.equal(busAddress(wrong), undefined, wrong);
});

test("each condition becomes what the API takes", () => {
  const of = (change: object, isBus = false) => triggerOf({ ...DRAFT, ...change }, isBus);
  const timeout_ms = 30_000;
  assert.equal(of({}), undefined);
  assert.deepEqual(of({ condition: "falling", lane: "3", timeout: "0.5" }), { channel: "LA3", edge: "falling", timeout_ms: 500 });
  assert.deepEqual(of({ condition: "pulse", level: "low", than: "longer", time: "2 ms" }), { pulse: { channel: "LA1", level: "low", longer_than_ns: 2_000_000 }, timeout_ms });
  assert.deepEqual(of({ condition: "pulse" }), { pulse: { channel: "LA1", level: "high", shorter_than_ns: 10_000 }, timeout_ms });
  assert.deepEqual(of({ condition: "level", time: "1 ms" }), { level: { channel: "LA1", level: "high", for_ns: 1_000_000 }, timeout_ms });
  assert.deepEqual(of({ condition: "pattern", pattern: { 2: "low", 1: "high" } }), { pattern: [{ channel: "LA1", level: "high" }, { channel: "LA2", level: "low" }], timeout_ms });
  assert.deepEqual(of({ condition: "i2c", address: "68", direction: "read" }), { protocol: "i2c", scl: "LA2", sda: "LA1", address: "0x68", direction: "read", timeout_ms });
  assert.deepEqual(of({ condition: "i2c" }, true), { protocol: "i2c", address: "0x76", timeout_ms });
  assert.deepEqual(of({ condition: "uart", bytes: "55??", parity: "odd" }), { protocol: "uart", rx: "LA1", bytes: "55 ??", baudrate: 115_200, parity: "odd", timeout_ms });
});

test("what is missing is said where it is missing, and only what is asked for", () => {
  const wrong = { ...DRAFT, time: "soon", address: "99", bytes: "zz", timeout: "0" };
  const fields = CONDITIONS.map(({ value }) => Object.keys(faults({ ...wrong, condition: value })).join());
  assert.deepEqual(fields, ["", "timeout", "timeout", "timeout", "timeout", "time,timeout", "time,timeout", "pattern,timeout", "address,timeout", "bytes,timeout"]);
  for (const { value } of CONDITIONS.filter(({ value }) => !["pattern", "uart"].includes(value))) assert.deepEqual(faults({ ...DRAFT, condition: value }), {});
});
