import assert from "node:assert/strict";
import { test } from "node:test";
import { needFor, resampled } from "../src/model/resample.ts";
import { HIGH, LOW, type Part, STRETCHES, tileSpan } from "../src/model/tiles.ts";
import { random } from "./random.ts";

/** What a server would send of a lane with these samples. */
function tiles(samples: readonly number[], level: number, index: number, count: number, analog: boolean): Part {
  const stretch = 2 ** level;
  const from = index * tileSpan(level);
  const some = Array.from({ length: count * STRETCHES }, (_, i) => samples.slice(from + i * stretch, from + (i + 1) * stretch));
  if (!analog) return { kind: "digital", levels: Uint8Array.from(some, (one) => one.reduce((bits, value) => bits | (value ? HIGH : LOW), 0)) };
  return { kind: "analog", min: Float32Array.from(some, (one) => (one.length ? Math.min(...one) : NaN)), max: Float32Array.from(some, (one) => (one.length ? Math.max(...one) : NaN)) };
}

test("a slower lane shows on the axis of the fastest what its samples say, at every level", () => {
  const next = random(17);
  const own = Array.from({ length: 9000 }, () => next(2));
  for (const step of [1, 2, 3, 10 / 3, 7.5, 250])
    for (const level of [0, 1, 3, 6, 9]) {
      const samples = Math.floor(own.length * step);
      const last = Math.ceil(samples / tileSpan(level)) - 1;
      for (const index of new Set([0, Math.floor(last / 2), last])) {
        const need = needFor(level, index, step);
        assert(need.tiles <= 8, `${need.tiles} tiles in one request`);
        const count = Math.min(STRETCHES, Math.ceil((samples - index * tileSpan(level)) / 2 ** level));
        const part = resampled(tiles(own, need.level, need.index, need.tiles, false), need, level, index, step, count);
        assert(part.kind === "digital");
        for (const i of [0, 1, 2, count >> 1, count - 1]) {
          const from = Math.floor(((index * STRETCHES + i) * 2 ** level) / step);
          const to = Math.ceil(((index * STRETCHES + i + 1) * 2 ** level) / step);
          const wanted = own.slice(from, to).reduce((bits, value) => bits | (value ? HIGH : LOW), 0);
          assert.equal(part.levels[i]! & wanted, wanted, `step ${step}, level ${level}, tile ${index}, stretch ${i}`);
          if (2 ** level <= step) assert.equal(part.levels[i], wanted, "no finer stretch says more than its samples");
        }
      }
    }
});

test("behind its end a slower analog lane says nothing", () => {
  const own = Array.from({ length: 1000 }, (_, i) => i);
  const need = needFor(0, 2, 3);
  const part = resampled(tiles(own, need.level, need.index, need.tiles, true), need, 0, 2, 3, STRETCHES);
  assert(part.kind === "analog");
  assert.equal(part.max[0], Math.ceil(2049 / 3) - 1);
  assert.equal(part.max[951], 999);
  assert(!(part.min[1000]! <= part.max[1000]!));
});
