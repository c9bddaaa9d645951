import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestEdge } from "../src/model/edges.ts";
import { type Gap, gapAt, gapsIn, hiddenColumns, isUnknownEdge, lostText, masked } from "../src/model/gaps.ts";
import { LiveCapture } from "../src/model/live.ts";
import { Pixels } from "../src/model/pixels.ts";
import { pulseAt } from "../src/model/pulse.ts";
import { type Digital, HIGH, LOW } from "../src/model/tiles.ts";
import { random } from "./random.ts";

test("a gap is found at any sample, as by looking through all", () => {
  const next = random(3);
  for (let run = 0; run < 200; run++) {
    const gaps: Gap[] = [];
    for (let at = next(20), i = next(9); i > 0; i--) {
      const from = at + 1 + next(10);
      gaps.push({ from, to: (at = from + 1 + next(8)) });
    }
    for (let sample = 0; sample < 200; sample++) {
      assert.equal(gapAt(gaps, sample), gaps.find(({ from, to }) => from <= sample && sample < to));
      const behind = sample + 1 + next(30);
      assert.deepEqual(gapsIn(gaps, sample, behind), gaps.filter(({ from, to }) => from < behind && to > sample));
    }
  }
});

test("a gap hides whole columns, and the shortest one is seen from afar", () => {
  const gaps = [{ from: 100, to: 200 }, { from: 205, to: 206 }, { from: 900, to: 5000 }];
  assert.deepEqual(hiddenColumns(gaps, { from: 0, to: 1000, samples: 6000 }, 100, 3), [{ from: 10, to: 23 }, { from: 90, to: 100 }]);
  assert.deepEqual(hiddenColumns(gaps, { from: 0, to: 1000, samples: 6000 }, 1000, 3), [{ from: 100, to: 200 }, { from: 205, to: 208 }, { from: 900, to: 1000 }]);
  assert.deepEqual(hiddenColumns(gaps, { from: 300, to: 400, samples: 6000 }, 100, 3), []);
});

test("what was lost has no level, no edge and no pulse", () => {
  const levels = Uint8Array.from({ length: 32 }, (_, i) => (i < 16 ? LOW : HIGH));
  const gaps = [{ from: 12, to: 20 }];
  const part = masked({ kind: "digital", levels }, 0, 0, gaps) as Digital;
  assert.deepEqual([...part.levels.slice(10, 22)], [LOW, LOW, 0, 0, 0, 0, 0, 0, 0, 0, HIGH, HIGH]);
  assert.equal(nearestEdge({ level: 0, index: 0, parts: [part] }, 0, 20, 8), undefined);
  assert(isUnknownEdge(gaps, 20) && !isUnknownEdge(gaps, 21));
  // Of a stretch that was lost in part, something is known.
  assert.deepEqual([...(masked({ kind: "digital", levels: Uint8Array.of(1, 1, 3, 2) }, 2, 0, [{ from: 3, to: 13 }]) as Digital).levels], [1, 0, 0, 2]);
  const column = (text: string): Uint8Array => Uint8Array.from(text, (sign) => ({ "_": LOW, "^": HIGH, "|": LOW | HIGH })[sign] ?? 0);
  assert.equal(pulseAt(column("__^^^   __"), 3), undefined);
  assert.equal(pulseAt(column("   ^^^__  "), 4), undefined);
  assert.deepEqual(pulseAt(column("__^^^__  "), 3), { from: 2, to: 5, period: undefined, isHigh: true });
  assert.deepEqual(pulseAt(column("__^^^__^"), 3), { from: 2, to: 5, period: 7, isHigh: true });
});

test("gaps of a capture that arrives are kept once, and masked", () => {
  const live = new LiveCapture([{ name: "LA1", kind: "digital", unit: "", channel: 0, scale: 1, offset: 0, step: 1 }], 1e6);
  live.add({ channel: 0, seq: 0, start: 0, count: 4096, data: { level: 1, runs: Uint32Array.of(4096) } });
  for (let again = 0; again < 2; again++) for (const gap of [{ from: 100, to: 200 }, { from: 2048, to: 3072 }]) live.lose(gap);
  assert.equal(live.gaps.length, 2);
  assert.deepEqual([...(live.tile(0, 0).parts[0] as Digital).levels.slice(98, 102)], [HIGH, HIGH, 0, 0]);
  assert.deepEqual([...(live.tile(10, 0).parts[0] as Digital).levels], [HIGH, HIGH, 0, HIGH]);
});

test("hatching moves with what it covers", () => {
  const drawn = (left: number): string[] => {
    const pixels = new Pixels(12, 3);
    pixels.hatch(left, left + 6, 0, 3, 4, 1, 1, 2);
    return [0, 1, 2].map((y) => pixels.data.subarray(y * 12 + left, y * 12 + left + 6).join(""));
  };
  assert.deepEqual(drawn(0), ["211121", "111211", "112111"]);
  assert.deepEqual(drawn(5), drawn(0));
});

test("a gap is said in words", () => {
  assert.equal(lostText({ from: 10_000, to: 14_000 }, 1e6), "4\u202f000 samples were lost (4 ms): 10\u202f000 to 13\u202f999");
});
