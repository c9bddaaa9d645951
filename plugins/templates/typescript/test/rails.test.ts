// `npm test`: the plugin beside doubles of the host's functions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Host, Refused, report, setWarning, warning } from "../src/rails.js";

function host(): Host {
  const kept = new Map<string, Uint8Array>();
  const device = (name: string) => ({ id: () => `id-of-${name}`, name: () => name });
  return {
    devices: () => [device("near"), device("far")],
    rails(device) {
      if (device === "id-of-far") throw { payload: { code: "device_offline", message: "it is offline" } };
      return [
        { id: 1, on: true, millivolts: 5000n, microamperes: 600_000n },
        { id: 2, on: false },
      ];
    },
    config: () => '{"warn_milliamperes": 500}',
    get: (key) => (kept.has(key) ? { value: kept.get(key)! } : undefined),
    put: (key, value) => kept.set(key, value),
  };
}

test("rails that draw too much are marked", () => {
  const told = report(host(), 500);
  assert.deepEqual(told.rails.map((rail) => rail.high), [true, false]);
  assert.deepEqual(told.skipped, [{ device: "far", code: "device_offline" }]);
});

test("what was stored counts before the configuration", () => {
  const one = host();
  assert.equal(warning(one), 500);
  setWarning(one, new TextEncoder().encode('{"warn_milliamperes": 250}'));
  assert.equal(warning(one), 250);
});

test("a body that makes no sense is refused", () => {
  for (const body of ["", "{}", "null", '{"warn_milliamperes": 0}', '{"warn_milliamperes": "9"}']) {
    assert.throws(() => setWarning(host(), new TextEncoder().encode(body)), Refused);
  }
});
