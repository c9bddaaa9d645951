import assert from "node:assert/strict";
import { test } from "node:test";
import { settingOf } from "../src/model/option.ts";

test("options have the units that decoders say, or that are known", () => {
  const of = (id: string, text: string, usual: string) => settingOf({ id, text, default: usual });
  assert.deepEqual(of("sample_point", "Sample point (%)", "50"), { label: "Sample point", unit: "%", isNumber: true, hint: undefined });
  assert.deepEqual(of("gap_bits", "Longest idle time in a run (bits)", "20"), { label: "Longest idle time in a run", unit: "bits", isNumber: true, hint: undefined });
  assert.deepEqual(of("baudrate", "Baud rate", "115200"), { label: "Baud rate", unit: "baud", isNumber: true, hint: undefined });
  // A remark is no unit.
  assert.deepEqual(of("delimiter", "Word that ends a run (decimal)", "-1"), { label: "Word that ends a run (decimal)", unit: undefined, isNumber: true, hint: "−1: none" });
  assert.equal(of("parts", "Parts on the bus, as bme280@0x76,ds1307", "").label, "Parts on the bus");
  assert.equal(of("nominal_bitrate", "Nominal bitrate (bits/s)", "1000000").unit, "bits/s");
});
