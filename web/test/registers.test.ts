import assert from "node:assert/strict";
import { test } from "node:test";
import { Annotations } from "../src/model/annotations.ts";
import { Registers, heldOf } from "../src/model/registers.ts";

test("registers hold what was read or written last", () => {
  const all = new Annotations();
  const say = (start: number, text: string): void => all.add({ start, end: start + 8, kind: "read", text });
  const registers = new Registers(all);
  const at = (sample: number) => registers.at(sample).map(({ part, register, value, isWritten }) => `${part} ${register} ${value}${isWritten ? " written" : ""}`);
  assert.deepEqual(at(1e9), []);
  say(0, "DS1307 0x68: select seconds");
  say(10, "DS1307 0x68: read seconds = 0x30 (seconds 30)");
  say(20, "BME280 0x76: write ctrl_meas = 0x27 (osrs_t ×1, mode normal)");
  say(30, "DS1307 0x68: read seconds = 0x31 (seconds 31)");
  assert.deepEqual(at(18), ["DS1307 0x68 seconds 0x30 (seconds 30)"]);
  assert.deepEqual(at(37), ["BME280 0x76 ctrl_meas 0x27 (osrs_t ×1, mode normal) written", "DS1307 0x68 seconds 0x30 (seconds 30)"]);
  assert.deepEqual(at(38).at(-1), "DS1307 0x68 seconds 0x31 (seconds 31)");
  // More comes while a capture arrives.
  say(50, "DS1307 0x68: write seconds = 0x00 (seconds 0)");
  assert.deepEqual(at(1e9).at(-1), "DS1307 0x68 seconds 0x00 (seconds 0) written");
  assert.equal(heldOf("0x50 0x51: other bytes"), undefined);
});
