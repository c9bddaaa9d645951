// Which path a piece of a board's picture belongs to, and what it adds to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Copper, drawingOf, trace } from "../src/model/board.ts";

const piece = (kind: Copper["kind"], layer: number | undefined, points: readonly number[], width: number): Copper => ({ kind, net: 1, points, width, ...(layer === undefined ? {} : { layer }) });

test("a pad is on its layer whatever its form, what goes through is apart, and holes are the last", () => {
  const [back, front] = [[0, 0, 9, 0, 9, 9], [1, 1, 9, 0, 9, 9]].map((points) => piece("pour", 0, points, 0.25)) as [Copper, Copper];
  const track = piece("track", 0, [0, 0, 5, 0], 0.6);
  const round = piece("pad", 0, [2, 2], 0.6);
  const oval = piece("pad", 0, [3, 3, 4, 3], 0.6);
  const square = piece("pad", 1, [0, 0, 1, 0, 1, 1, 0, 1], 0);
  const through = piece("pad", undefined, [7, 7, 7, 8], 1.7);
  const via = piece("via", undefined, [6, 6], 0.6);
  const hole = piece("hole", undefined, [6, 6], 0.3);
  const drawn = drawingOf({ layers: [{ name: "F.Cu" }, { name: "B.Cu" }], copper: [back, front, track, round, oval, square, through, via, hole] });
  assert.deepEqual(drawn.layers[0], { pours: [back, front], copper: new Map([[0.6, [track, round, oval]]]) });
  assert.deepEqual(drawn.layers[1], { pours: [], copper: new Map([[0, [square]]]) });
  assert.deepEqual(drawn.through, new Map([[1.7, [through]], [0.6, [via]]]));
  assert.deepEqual(drawn.holes, new Map([[0.3, [hole]]]));
});

test("a disc is a line that is hardly longer than nothing, and only rings are closed", () => {
  const traced = (points: readonly number[]): readonly string[] => {
    const said: string[] = [];
    trace({ moveTo: (x, y) => said.push(`M${x},${y}`), lineTo: (x, y) => said.push(`L${x},${y}`), closePath: () => said.push("Z") }, points);
    return said;
  };
  assert.deepEqual(traced([1, 2]), ["M1,2", "L1.0001,2"]);
  assert.deepEqual(traced([1, 2, 3, 4]), ["M1,2", "L3,4"]);
  assert.deepEqual(traced([0, 0, 1, 0, 1, 1]), ["M0,0", "L1,0", "L1,1", "Z"]);
  assert.deepEqual(traced([]), []);
});
