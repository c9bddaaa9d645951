// Stretches of a capture that a slow link lost: samples are stored there, but what they were is not known. Pure.
import { type View, duration } from "./axis.ts";
import { type Part, tileSpan } from "./tiles.ts";

/** Samples from `from` up to, but not including, `to`. A capture has them sorted and apart, 4,096 at most. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The first gap that ends behind `sample`. */
function firstBehind(gaps: readonly Gap[], sample: number): number {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (gaps[middle]!.to > sample) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function gapAt(gaps: readonly Gap[], sample: number): Gap | undefined {
  const gap = gaps[firstBehind(gaps, sample)];
  return gap && gap.from <= sample ? gap : undefined;
}

/** Those that have a sample between `from` and `to`. */
export function gapsIn(gaps: readonly Gap[], from: number, to: number): readonly Gap[] {
  const first = firstBehind(gaps, from);
  let last = first;
  while (last < gaps.length && gaps[last]!.from < to) last++;
  return gaps.slice(first, last);
}

/** Whether an edge at `sample` is none: of the first sample behind a gap the level is known, but not the one before it. */
export const isUnknownEdge = (gaps: readonly Gap[], sample: number): boolean => gapAt(gaps, sample - 1) !== undefined;

/** Columns of the screen, `to` not included. */
export interface Hidden {
  readonly from: number;
  readonly to: number;
}

/** What of the screen gaps hide: whole columns, at least `least` of them, so that the shortest gap is seen from afar. */
export function hiddenColumns(gaps: readonly Gap[], view: View, width: number, least: number): readonly Hidden[] {
  const scale = width / (view.to - view.from);
  const all: Hidden[] = [];
  for (const gap of gapsIn(gaps, view.from, view.to)) {
    const from = Math.max(0, Math.floor((gap.from - view.from) * scale));
    const to = Math.min(width, Math.max(from + least, Math.ceil((gap.to - view.from) * scale)));
    const last = all.at(-1);
    if (last && from <= last.to) all[all.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else all.push({ from, to });
  }
  return all;
}

/** `4 000 samples were lost: 10 000 to 13 999, 4 ms`. */
export function lostText({ from, to }: Gap, rate: number): string {
  const number = (n: number): string => n.toLocaleString("en").replaceAll(",", "\u202f");
  return `${number(to - from)} ${to - from === 1 ? "sample was" : "samples were"} lost (${duration((to - from) / rate)}): ${number(from)} to ${number(to - 1)}`;
}

/** Levels of a tile without those of stretches that were lost whole. */
export function masked(part: Part, level: number, index: number, gaps: readonly Gap[]): Part {
  if (part.kind !== "digital") return part;
  const start = index * tileSpan(level);
  const lost = gapsIn(gaps, start, start + tileSpan(level));
  if (lost.length === 0) return part;
  const levels = part.levels.slice();
  for (const { from, to } of lost) levels.fill(0, Math.max(0, Math.ceil((from - start) / 2 ** level)), Math.max(0, Math.floor((to - start) / 2 ** level)));
  return { kind: "digital", levels };
}
