// Several captures, and what else was measured, as the lanes of one axis. Pure, but for the promises of the sources.
import { type Lane, type Part, STRETCHES, type Tile, type TileSource, stretchesIn, tileSpan } from "./tiles.ts";

export interface Member {
  readonly source: TileSource;
  /** When its first sample was, in seconds of the common axis. */
  readonly from: number;
}

export class JoinedSource implements TileSource {
  readonly lanes: readonly Lane[];
  readonly rate: number;
  readonly samples: number;
  #members: readonly Member[];

  constructor(members: readonly Member[], seconds: number, rateMin: number) {
    this.#members = members;
    this.rate = Math.max(rateMin, ...members.map(({ source }) => source.rate));
    this.samples = Math.max(1, Math.ceil(seconds * this.rate), ...members.map(({ source, from }) => Math.ceil((from + source.samples / source.rate) * this.rate)));
    this.lanes = members.flatMap(({ source }) => source.lanes);
  }

  async load(level: number, index: number, signal: AbortSignal): Promise<Tile> {
    const parts = await Promise.all(this.#members.map((member) => this.#partsOf(member, level, index, signal)));
    return { level, index, parts: parts.flat() };
  }

  /** A stretch here is what all stretches of the member are that it touches, at the level that is no coarser. */
  async #partsOf({ source, from }: Member, level: number, index: number, signal: AbortSignal): Promise<readonly Part[]> {
    const step = source.rate / this.rate;
    const own = Math.max(0, Math.floor(Math.log2(2 ** level * step) + 1e-9));
    const at = (stretch: number): number => ((index * tileSpan(level) + stretch * 2 ** level) / this.rate - from) * source.rate / 2 ** own;
    const last = Math.ceil(source.samples / 2 ** own);
    const [first, behind] = [Math.max(0, Math.floor(at(0))), Math.min(last, Math.ceil(at(STRETCHES)))];
    const tiles = new Map<number, Tile>();
    const wanted: number[] = [];
    for (let i = Math.floor(first / STRETCHES); i * STRETCHES < behind; i++) wanted.push(i);
    await Promise.all(wanted.map(async (i) => tiles.set(i, await source.load(own, i, signal))));
    return source.lanes.map((lane, i) => joined(lane.kind, (stretch) => tiles.get(Math.floor(stretch / STRETCHES))?.parts[i], at, last));
  }
}

function joined(kind: Lane["kind"], partOf: (stretch: number) => Part | undefined, at: (stretch: number) => number, last: number): Part {
  const levels = new Uint8Array(kind === "digital" ? STRETCHES : 0);
  const [min, max] = [new Float32Array(kind === "analog" ? STRETCHES : 0).fill(NaN), new Float32Array(kind === "analog" ? STRETCHES : 0).fill(NaN)];
  for (let i = 0; i < STRETCHES; i++) {
    const first = Math.max(0, Math.floor(at(i) + 1e-6));
    const behind = Math.min(last, Math.max(first + 1, Math.ceil(at(i + 1) - 1e-6)));
    if (at(i + 1) <= 0) continue;
    for (let stretch = first; stretch < behind; stretch++) {
      const part = partOf(stretch);
      const inside = stretch % STRETCHES;
      if (part?.kind === "digital") levels[i]! |= part.levels[inside] ?? 0;
      if (part?.kind !== "analog") continue;
      const [low, high] = [part.min[inside] ?? NaN, part.max[inside] ?? NaN];
      if (!(min[i]! <= low)) min[i] = low;
      if (!(max[i]! >= high)) max[i] = high;
    }
  }
  return kind === "digital" ? { kind, levels } : { kind, min, max };
}

/** Values that hold until the next one, as those of a rail that is measured now and then. */
export class HeldSource implements TileSource {
  readonly lanes: readonly Lane[];
  readonly rate: number;
  readonly samples: number;
  #at: readonly number[];
  #values: readonly (readonly number[])[];

  /** `at` in seconds, sorted; `values` of each lane at these times. */
  constructor(lanes: readonly Lane[], at: readonly number[], values: readonly (readonly number[])[], seconds: number, rate: number) {
    this.lanes = lanes;
    this.rate = rate;
    this.samples = Math.ceil(seconds * rate);
    this.#at = at;
    this.#values = values;
  }

  load(level: number, index: number): Promise<Tile> {
    const seconds = (stretch: number): number => (index * tileSpan(level) + stretch * 2 ** level) / this.rate;
    const count = stretchesIn(this.samples, level, index);
    const parts = this.#values.map((values): Part => {
      const [min, max] = [new Float32Array(count).fill(NaN), new Float32Array(count).fill(NaN)];
      let held = this.#at.findLastIndex((at) => at <= seconds(0));
      for (let i = 0; i < count; i++) {
        let [low, high] = held < 0 ? [Infinity, -Infinity] : [values[held]!, values[held]!];
        while (held + 1 < this.#at.length && this.#at[held + 1]! < seconds(i + 1)) {
          held++;
          low = Math.min(low, values[held]!);
          high = Math.max(high, values[held]!);
        }
        if (low <= high) [min[i], max[i]] = [low, high];
      }
      return { kind: "analog", min, max };
    });
    return Promise.resolve({ level, index, parts });
  }
}
