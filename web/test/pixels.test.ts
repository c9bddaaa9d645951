import assert from "node:assert/strict";
import { test } from "node:test";
import { Pixels, colourOf, inkOf } from "../src/model/pixels.ts";
import { HIGH, LOW } from "../src/model/tiles.ts";

const GROUND = colourOf("#ffffff");
const INK = inkOf(colourOf("#0369a1"), GROUND);

/** A lane of seven rows as text: `#` its line, `.` the ground, `o` what is filled, `x` where it is busy. */
function drawn(levels: readonly number[]): string[] {
  const pixels = new Pixels(levels.length, 7);
  pixels.clear(GROUND);
  pixels.digital(Uint8Array.from(levels), 1, 5, 1, INK);
  const sign = new Map([[INK.line, "#"], [INK.fill, "o"], [INK.busy, "x"], [GROUND, "."]]);
  return Array.from({ length: 7 }, (_, y) => Array.from(pixels.data.subarray(y * levels.length, (y + 1) * levels.length), (colour) => sign.get(colour)).join(""));
}

test("levels are lines, high ones are filled, and every edge is seen", () => {
  const both = LOW | HIGH;
  assert.deepEqual(drawn([LOW, LOW, both, HIGH, HIGH, LOW, LOW]), [
    ".......",
    "..####.",
    "..#oo#.",
    "..#oo#.",
    "..#oo#.",
    "###oo##",
    ".......",
  ]);
});

test("where edges are too many to be seen, the lane is grey between its lines", () => {
  const both = LOW | HIGH;
  assert.deepEqual(drawn([LOW, both, both, both, LOW])[3], ".xxx.");
});

test("what is not known is not drawn", () => assert.deepEqual(drawn([0, 0, LOW])[5], "..#"));
