// Lanes of other sample rates on the axis of the fastest one. A stretch of theirs becomes part of every stretch of the axis
// that it touches: nothing that was there is lost. Pure.
import { type Part, STRETCHES } from "./tiles.ts";

/** Which tiles of a slower lane show a tile of the axis. */
export interface Need {
  readonly level: number;
  readonly index: number;
  /** Tiles in a row. */
  readonly tiles: number;
}

/** `step`: samples of the axis for one of the slower lane, at least 1. */
export function needFor(level: number, index: number, step: number): Need {
  const own = Math.max(0, Math.floor(Math.log2(2 ** level / step)));
  const wide = STRETCHES * 2 ** own;
  const from = Math.floor((index * STRETCHES * 2 ** level) / step);
  const to = Math.ceil(((index + 1) * STRETCHES * 2 ** level) / step);
  const first = Math.floor(from / wide);
  return { level: own, index: first, tiles: Math.floor((to - 1) / wide) - first + 1 };
}

/** `part` begins with the tile `need.index`; `count` stretches of the axis are wanted. */
export function resampled(part: Part, need: Need, level: number, index: number, step: number, count: number): Part {
  const start = need.index * STRETCHES;
  const place = (sample: number): number => Math.floor(sample / 2 ** need.level) - start;
  const first = (i: number): number => place(Math.floor(((index * STRETCHES + i) * 2 ** level) / step));
  const last = (i: number): number => place(Math.ceil(((index * STRETCHES + i + 1) * 2 ** level) / step) - 1);
  if (part.kind === "digital") {
    const levels = new Uint8Array(count);
    for (let i = 0; i < count; i++) for (let k = first(i); k <= last(i); k++) levels[i]! |= part.levels[k] ?? 0;
    return { kind: "digital", levels };
  }
  const [min, max] = [new Float32Array(count).fill(Infinity), new Float32Array(count).fill(-Infinity)];
  for (let i = 0; i < count; i++)
    for (let k = first(i); k <= last(i); k++) {
      const [low, high] = [part.min[k] ?? NaN, part.max[k] ?? NaN];
      if (low < min[i]!) min[i] = low;
      if (high > max[i]!) max[i] = high;
    }
  return { kind: "analog", min, max };
}
