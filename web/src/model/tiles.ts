// Captures from afar. A tile is STRETCHES stretches of all lanes; a stretch at level n is 2^n samples, aligned,
// so that panning hits what is there already. Pure, but for the promises of a source.
import { type View, span } from "./axis.ts";
import type { Gap } from "./gaps.ts";

export const STRETCHES = 1024;

/** Bits of a digital stretch: it was low, it was high, or both. */
export const LOW = 1;
export const HIGH = 2;

export interface Digital {
  readonly kind: "digital";
  readonly levels: Uint8Array;
}
export interface Analog {
  readonly kind: "analog";
  readonly min: Float32Array;
  readonly max: Float32Array;
}
export type Part = Digital | Analog;

export interface Tile {
  readonly level: number;
  readonly index: number;
  /** In the order of the capture's lanes; shorter than STRETCHES at its end. */
  readonly parts: readonly Part[];
}

export interface Lane {
  readonly name: string;
  /** The channel, where a person gave it another name. */
  readonly note?: string;
  readonly kind: "digital" | "analog";
  readonly unit: string;
}

export interface TileSource {
  readonly lanes: readonly Lane[];
  readonly samples: number;
  readonly rate: number;
  /** What a slow link lost of its digital lanes. */
  readonly gaps?: readonly Gap[];
  load(level: number, index: number, signal: AbortSignal): Promise<Tile>;
}

export const tileSpan = (level: number): number => STRETCHES * 2 ** level;

/** How many stretches a tile has of a capture with so many samples. */
export const stretchesIn = (samples: number, level: number, index: number): number => Math.max(0, Math.min(STRETCHES, Math.ceil(samples / 2 ** level) - index * STRETCHES));

/** One to two stretches for each of `columns`; at level 0 every sample is its own. */
export function levelFor(view: View, columns: number): number {
  return Math.max(0, Math.floor(Math.log2(span(view) / columns)));
}

export function topLevel(samples: number): number {
  return Math.max(0, Math.ceil(Math.log2(samples / STRETCHES)));
}

export function tilesIn(view: View, level: number): readonly number[] {
  const wide = tileSpan(level);
  const first = Math.floor(view.from / wide);
  const last = Math.floor((Math.min(view.to, view.samples) - 1e-6) / wide);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}

const bytesOf = (tile: Tile): number =>
  tile.parts.reduce((sum, part) => sum + (part.kind === "digital" ? part.levels.length : part.min.length * 8), 64);

/** Least recently used first out, by bytes. */
export class TileCache {
  #tiles = new Map<string, Tile>();
  #bytes = 0;
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(level: number, index: number): Tile | undefined {
    const key = `${level}/${index}`;
    const tile = this.#tiles.get(key);
    if (tile) {
      this.#tiles.delete(key);
      this.#tiles.set(key, tile);
    }
    return tile;
  }

  put(tile: Tile): void {
    const key = `${tile.level}/${tile.index}`;
    const old = this.#tiles.get(key);
    if (old) this.#bytes -= bytesOf(old);
    this.#tiles.delete(key);
    this.#tiles.set(key, tile);
    this.#bytes += bytesOf(tile);
    for (const [oldest, gone] of this.#tiles) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#tiles.delete(oldest);
      this.#bytes -= bytesOf(gone);
    }
  }

  clear(): void {
    this.#tiles.clear();
    this.#bytes = 0;
  }
}

/** A part of the screen, and the finest tile that shows it. */
export interface Piece {
  readonly tile: Tile;
  /** First stretch, and the one behind the last. */
  readonly first: number;
  readonly last: number;
}

/** What there is for a view, left to right; where a tile is missing, its nearest ancestor. */
export function piecesFor(cache: TileCache, view: View, level: number, top: number): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const index of tilesIn(view, level)) {
    const piece = nearest(cache, index, level, top, view);
    if (piece) pieces.push(piece);
  }
  return pieces;
}

function nearest(cache: TileCache, index: number, level: number, top: number, view: View): Piece | undefined {
  const from = Math.max(index * tileSpan(level), view.from);
  const to = Math.min((index + 1) * tileSpan(level), view.to);
  for (let up = level; up <= top; up++) {
    const at = Math.floor(index / 2 ** (up - level));
    const tile = cache.get(up, at);
    if (!tile) continue;
    const start = at * tileSpan(up);
    const stretch = 2 ** up;
    return {
      tile,
      first: Math.max(0, Math.floor((from - start) / stretch)),
      last: Math.min(STRETCHES, Math.ceil((to - start) / stretch)),
    };
  }
  return undefined;
}

/** Levels of one digital lane for each of `columns` columns; 0 where nothing is known. */
export function digitalColumns(pieces: readonly Piece[], lane: number, view: View, columns: Uint8Array): void {
  columns.fill(0);
  const scale = columns.length / span(view);
  for (const { tile, first, last } of pieces) {
    const part = tile.parts[lane];
    if (part?.kind !== "digital") continue;
    const { levels } = part;
    const stretch = 2 ** tile.level * scale;
    let x = (tile.index * tileSpan(tile.level) - view.from) * scale + first * stretch;
    const end = Math.min(last, levels.length);
    for (let i = first; i < end; i++, x += stretch) {
      const level = levels[i]!;
      const to = Math.min(columns.length, x + stretch - 1e-6);
      for (let column = x < 0 ? 0 : x | 0; column < to; column++) columns[column]! |= level;
    }
  }
}

/** Lowest and highest value for each column; `min` above `max` where nothing is known. */
export function analogColumns(pieces: readonly Piece[], lane: number, view: View, min: Float32Array, max: Float32Array): void {
  min.fill(Infinity);
  max.fill(-Infinity);
  const scale = min.length / span(view);
  for (const { tile, first, last } of pieces) {
    const part = tile.parts[lane];
    if (part?.kind !== "analog") continue;
    const stretch = 2 ** tile.level * scale;
    let x = (tile.index * tileSpan(tile.level) - view.from) * scale + first * stretch;
    const end = Math.min(last, part.min.length);
    for (let i = first; i < end; i++, x += stretch) {
      const low = part.min[i]!;
      const high = part.max[i]!;
      const to = Math.min(min.length, x + stretch - 1e-6);
      for (let column = x < 0 ? 0 : x | 0; column < to; column++) {
        if (low < min[column]!) min[column] = low;
        if (high > max[column]!) max[column] = high;
      }
    }
  }
}
