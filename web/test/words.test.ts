import assert from "node:assert/strict";
import { test } from "node:test";
import { HexDump } from "../src/model/hex.ts";
import { between, bytes, rough, several } from "../src/ui/time.ts";
import { decodingText, parseDecoding } from "../src/model/decoding.ts";

test("a decoder goes through the address unchanged, whatever its lanes are called", () => {
  for (const decoding of [
    { protocol: "i2c", channels: { scl: "LA1", sda: "LA2" }, options: {} },
    { protocol: "uart", channels: { rx: "data[3],x;y=1:2 %" }, options: { baudrate: "9600", parity: "even" } },
    { protocol: "spi", channels: {}, options: { wordsize: "8" } },
  ])
    assert.deepEqual(parseDecoding(decodingText(decoding)), decoding);
  assert.deepEqual(parseDecoding("i2c:scl=LA1,sda=LA2").channels, { scl: "LA1", sda: "LA2" });
  assert.deepEqual(parseDecoding("rubbish"), { protocol: "rubbish", channels: {}, options: {} });
  assert.deepEqual(parseDecoding("i2c:scl=%E0%A4%A").channels, {});
});

test("bytes stand where they were received, and only the last ones are kept", () => {
  const dump = new HexDump(32);
  dump.append(new TextEncoder().encode("hello\r\n"));
  assert.deepEqual(dump.row(0), { at: "00000000", hex: "68 65 6c 6c 6f 0d 0a                              ".slice(0, 48), text: "hello··         " });
  assert.equal(dump.rows, 1);
  dump.append(new Uint8Array(40).fill(0x41));
  assert.deepEqual([dump.end, dump.rows], [47, 3]);
  assert.equal(dump.row(0).at, "00000000");
  assert.equal(dump.row(0).text, " ".repeat(15) + "A");
  dump.append(new Uint8Array(1000).fill(0x42));
  assert.deepEqual([dump.end, dump.row(0).at], [1047, "000003f0"]);
  dump.clear();
  assert.equal(dump.rows, 0);
});

test("amounts are written as people write them", () => {
  assert.deepEqual([0, 999, 1500, 123_456, 5_000_000_000].map(bytes), ["0 B", "999 B", "1.5 kB", "123 kB", "5.0 GB"]);
  assert.deepEqual([5, 100, 7200, 200_000].map(rough), ["5 s", "2 min", "2 h", "2 days"]);
  assert.equal(between("2026-01-01T00:00:00Z", "2026-01-01T00:01:05Z"), "1 min 05 s");
  assert.deepEqual([several(1, "line"), several(2000, "line")], ["1 line", "2\u202f000 lines"]);
});
