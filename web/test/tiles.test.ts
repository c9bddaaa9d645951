import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLES, tile as made } from "../dev/synthetic.ts";
import { exactEdge, nearestEdge } from "../src/model/edges.ts";
import { LiveCapture } from "../src/model/live.ts";
import { HIGH, LOW, STRETCHES, type Tile, TileCache, digitalColumns, levelFor, piecesFor, tilesIn, topLevel } from "../src/model/tiles.ts";
import { pulseAt, pulseText } from "../src/model/pulse.ts";
import { parseTiles, writeTiles } from "../src/model/wire.ts";
import { random } from "./random.ts";

/** Runs of one lane, and each of its samples. */
function signal(seed: number, runs: number) {
  const next = random(seed);
  const lengths = Uint32Array.from({ length: runs }, () => 1 + next(next(4) === 0 ? 5000 : 40));
  const samples: number[] = [];
  lengths.forEach((length, i) => samples.push(...Array<number>(length).fill(i % 2 ? HIGH : LOW)));
  return { lengths, samples };
}

const levelsOf = (tile: Tile, lane: number): Uint8Array => {
  const part = tile.parts[lane]!;
  assert(part.kind === "digital");
  return part.levels;
};

test("tiles of a capture that arrives in pieces say what its samples say, at every level", () => {
  const { lengths, samples } = signal(3, 700);
  const live = new LiveCapture([{ name: "LA1", kind: "digital", unit: "", channel: 4, scale: 1, offset: 0, step: 1 }], 1e6);
  for (let from = 0, start = 0; from < lengths.length; from += 50) {
    const runs = lengths.slice(from, from + 50);
    const count = runs.reduce((a, b) => a + b, 0);
    live.add({ channel: 4, seq: from / 50, start, count, data: { level: from % 2, runs } });
    start += count;
  }
  assert.equal(live.samples, samples.length);
  for (let level = 0; level <= topLevel(samples.length) + 1; level++)
    for (let index = 0; index * STRETCHES * 2 ** level < samples.length; index++) {
      const levels = levelsOf(live.tile(level, index), 0);
      for (let i = 0; i < levels.length; i++) {
        const from = (index * STRETCHES + i) * 2 ** level;
        const want = samples.slice(from, from + 2 ** level).reduce((a, b) => a | b, 0);
        assert.equal(levels[i], want, `level ${level}, tile ${index}, stretch ${i}`);
      }
    }
});

test("frames that come again after a lost connection change nothing", () => {
  const lane = { unit: "", scale: 1, offset: 0, step: 1 };
  const live = new LiveCapture([{ ...lane, name: "LA1", kind: "digital", channel: 0 }, { ...lane, name: "ADC", kind: "analog", channel: 16 }], 1e6);
  const frames = [
    { channel: 16, seq: 0, start: 0, count: 4, data: { counts: Uint16Array.of(5, 6, 7, 8) } },
    { channel: 0, seq: 1, start: 0, count: 4, data: { level: 0, runs: Uint32Array.of(3, 1) } },
    { channel: 16, seq: 2, start: 4, count: 4, data: { counts: Uint16Array.of(1, 2, 3, 4) } },
    { channel: 0, seq: 3, start: 4, count: 4, data: { level: 1, runs: Uint32Array.of(2, 2) } },
  ];
  for (const frame of [...frames, ...frames]) live.add(frame);
  assert.equal(live.samples, 8);
  const { parts } = live.tile(0, 0);
  assert.deepEqual(parts[0], { kind: "digital", levels: Uint8Array.of(LOW, LOW, LOW, HIGH, HIGH, HIGH, LOW, LOW) });
  assert.deepEqual(parts[1], { kind: "analog", min: Float32Array.of(5, 6, 7, 8, 1, 2, 3, 4), max: Float32Array.of(5, 6, 7, 8, 1, 2, 3, 4) });
  live.add({ channel: 0, seq: 4, start: 8, count: 2, data: { level: 0, runs: Uint32Array.of(2) } });
  assert.equal(live.samples, 10);
});

test("a tile goes through its binary form unchanged", () => {
  for (const [level, index] of [[0, 1184], [8, 3], [20, 0]] as const) {
    const lanes = made(level, index).parts.map((part, channel) => ({ channel: channel + 3, part }));
    assert.deepEqual(parseTiles(writeTiles({ level, index, lanes })), { level, index, lanes });
  }
});

test("a missing tile is drawn from its ancestor, and columns never lie", () => {
  const cache = new TileCache(1 << 20);
  const top = topLevel(SAMPLES);
  cache.put(made(top, 0));
  const view = { from: 100e6, to: 200e6, samples: SAMPLES };
  const level = levelFor(view, 1000);
  const columns = new Uint8Array(1000);
  digitalColumns(piecesFor(cache, view, level, top), 13, view, columns);
  assert(columns.every((column) => column === HIGH), "power is good from 0.81 s on");
  for (const index of tilesIn(view, level)) cache.put(made(level, index));
  digitalColumns(piecesFor(cache, view, level, top), 12, view, columns);
  const edges = columns.reduce((sum, column, i) => sum + (i > 0 && column !== columns[i - 1] ? 1 : 0), 0);
  assert(edges >= 3 && edges <= 9, `the lamp blinks twice in this second: ${edges}`);
});

test("the cache stays below its limit", () => {
  const cache = new TileCache(100_000);
  for (let index = 0; index < 40; index++) cache.put(made(5, index));
  assert(cache.bytes <= 100_000);
  assert(cache.get(5, 39) && !cache.get(5, 0));
});

test("an edge is found to the sample from afar, with few tiles", async () => {
  let loads = 0;
  const load = (level: number, index: number): Promise<Tile> => {
    loads++;
    return Promise.resolve(made(level, index));
  };
  const top = topLevel(SAMPLES);
  const edge = nearestEdge(made(top, 0), 13, 81e6, 5e6);
  assert(edge);
  assert.equal(await exactEdge(edge, 13, load), 81_234_567);
  assert(loads <= 2, `${loads} loads`);
});

test("a pulse is measured only when both its ends are seen", () => {
  const columns = Uint8Array.from([2, 2, 1, 1, 1, 2, 2]);
  assert.deepEqual(pulseAt(columns, 3), { from: 2, to: 5, period: undefined, isHigh: false });
  assert.equal(pulseAt(columns, 0), undefined);
  assert.deepEqual(pulseAt(Uint8Array.from([1, 2, 2, 1, 1, 1, 2, 2]), 2), { from: 1, to: 3, period: 6, isHigh: true });
  assert.deepEqual(pulseAt(Uint8Array.from([3, 1, 1, 3, 2, 2, 2, 3]), 1), { from: 1, to: 3, period: 7, isHigh: false });
  assert.equal(pulseText(12e-6, 20e-6, true, true), "12 µs high · period 20 µs · 50 kHz · 60 %");
  assert.equal(pulseText(5e-6, 20e-6, false, false), "≈ 5 µs low · period 20 µs · 50 kHz · 75 %");
});
