import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS, NOTHING, appended, line, nearest, summary, times } from "../src/model/rails.ts";

const readings = (from: number, mv: readonly number[], every = 5000) => ({ at: mv.map((_, i) => from + i * every), mv, ua: mv.map((one) => one * 6) });

test("what comes is appended once, and an hour is kept", () => {
  const first = appended(NOTHING, readings(0, [0, 5000]));
  assert.deepEqual(appended(first, NOTHING), first);
  assert.deepEqual(appended(first, readings(5000, [5000, 5010])).at, [0, 5000, 10_000]);
  const later = appended(first, readings(5000 + HOUR_MS, [4990]));
  assert.deepEqual([later.at, later.mv], [[5000, 5000 + HOUR_MS], [5000, 4990]]);
  assert.deepEqual(appended(first, readings(3 * HOUR_MS, [1])).at, [3 * HOUR_MS]);
});

test("the hour in words counts what had power", () => {
  assert.deepEqual(summary(readings(0, [0, 5000, 5100, 3])), { isOn: false, on: { lowMv: 5000, highMv: 5100, meanUa: 30_300, mostUa: 30_600 } });
  assert.deepEqual(summary(readings(0, [0, 0])), { isOn: false, on: undefined });
  assert.deepEqual(summary(NOTHING), { isOn: false, on: undefined });
});

test("a line has a gap where nothing was read", () => {
  const scope = { from: 0, to: 100_000, width: 100, height: 50, intervalMs: 5000 };
  const { path, marks, y } = line([0, 5000, 60_000], [5, 5, 5], scope);
  assert.deepEqual(path.match(/[ML][\d.]+/g), ["M0.0", "L5.0", "M60.0"]);
  assert.equal(y(0), 50);
  assert(marks.length >= 2 && marks.every(({ value }) => value >= 0 && value < 6));
  // Nothing but zeros is no division by zero, and values below zero are inside.
  assert.equal(line([0, 5000], [0, 0], scope).path, "M0.0 50.0h.5L5.0 50.0");
  const { y: signed } = line([0], [-3], scope);
  assert.equal(signed(-3), 50);
  assert(signed(0) >= 0 && signed(0) <= 50);
});

test("times are round on the local clock", () => {
  assert.deepEqual(times(100, 4000, 1000, 0), [1000, 2000, 3000, 4000]);
  assert.deepEqual(times(100, 2000, 1000, 300), [700, 1700]);
});

test("the nearest reading is found", () => {
  assert.deepEqual([-5, 0, 2, 3, 5, 9, 99].map((moment) => nearest([0, 5, 10], moment)), [0, 0, 0, 1, 1, 2, 2]);
  assert.equal(nearest([7], 0), 0);
});
