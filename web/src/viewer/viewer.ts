// The state of a viewer, and what can be done with it. Knows neither the document nor the canvas.
import { computed, signal } from "@preact/signals";
import { type View, centre, span, whole } from "../model/axis.ts";
import { type Decoding, decodingText } from "../model/decoding.ts";
import { type Gap, isUnknownEdge } from "../model/gaps.ts";
import { exactEdge, nearestEdge } from "../model/edges.ts";
import { type Piece, type Tile, TileCache, type TileSource, levelFor, piecesFor, tileSpan, tilesIn, topLevel } from "../model/tiles.ts";
import { Decoder, type Row } from "./decoders.ts";
import type { Golden } from "./golden.ts";
import type { Lookups } from "./lookups.ts";

const CACHE_BYTES = 64 * 1024 * 1024;
const LOADS_MAX = 4;
/** A cursor jumps to an edge that is so near. */
const SNAP_PX = 8;
/** What is narrower on the screen is a line. */
const COLUMNS_MIN = 4;
/** The view may move so long before tiles are asked for. */
const SETTLE_MS = 30;

export const RULER = 32;
const HEIGHTS = { digital: 26, digitalMax: 52, analog: 64, analogMax: 200, decoder: 24 } as const;

export interface Cursors {
  readonly a?: number;
  readonly b?: number;
}

export interface Marker {
  readonly channel?: number | null;
  readonly sample: number;
  readonly note: string;
}

/** A place that a rule was judged at. */
export interface Judged {
  readonly from: number;
  readonly to: number;
  /** Of all lanes when it is left out. */
  readonly lane: number | undefined;
  readonly isGood: boolean;
}

export class Viewer {
  readonly source: TileSource;
  readonly capture: string;
  /** What the server knows of a stored capture; a live one has none of it yet. */
  readonly lookups: Lookups | undefined;
  /** The device that the capture arrives from, while it does. */
  readonly liveOf: string | undefined;
  /** The sample at which the trigger was met. While a capture arrives that is not known. */
  readonly trigger = signal<number | undefined>(undefined);
  readonly view = signal<View>(whole(1));
  readonly cursors = signal<Cursors>({});
  readonly hover = signal<{ readonly sample: number; readonly lane: number } | undefined>(undefined);
  readonly selected = signal(0);
  readonly decoders = signal<readonly Decoder[]>([]);
  /** What is known besides of the same time: steps of the job, its serial line. */
  readonly aside = signal<readonly Row[]>([]);
  readonly showsAside = signal(true);
  /** Annotations from top to bottom. */
  readonly rows = computed<readonly Row[]>(() => [...(this.showsAside.value ? this.aside.value : []), ...this.decoders.value.flatMap((decoder) => decoder.rows.value)]);
  readonly markers = signal<readonly Marker[]>([]);
  /** Places that a search has found. */
  readonly places = signal<readonly { readonly from: number; readonly to: number }[]>([]);
  /** Where rules do not hold, and where those that hold were looked at. */
  readonly judged = computed<readonly Judged[]>(() => Object.values(this.#judged.value).flat());
  /** The rules that it is judged by, as they are written. */
  readonly rules = signal("");
  /** What is searched for in it. */
  readonly sought = signal("");
  /** Another capture that is laid over this one. */
  readonly golden = signal<Golden | undefined>(undefined);
  /** The id of the capture to lay over this one; "" for none. */
  readonly compareWith = signal("");
  /** Grows when tiles or annotations arrive. */
  readonly edition = signal(0);
  /** Columns of the canvas, in device pixels. */
  columns = 1000;
  /** What the waves may take, in CSS pixels; few lanes become taller. */
  readonly room = signal(0);

  #judged = signal<Readonly<Record<string, readonly Judged[]>>>({});
  #cache = new TileCache(CACHE_BYTES);
  #loads = new Map<string, AbortController>();
  #stop = new AbortController();
  #timer = 0;

  constructor(capture: string, source: TileSource, lookups?: Lookups, trigger?: number | null, liveOf?: string) {
    this.capture = capture;
    this.source = source;
    this.lookups = lookups;
    this.liveOf = liveOf;
    this.trigger.value = trigger ?? undefined;
    this.view.value = whole(source.samples);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
    for (const load of this.#loads.values()) load.abort();
    for (const decoder of this.decoders.peek()) decoder.close();
    this.golden.peek()?.close();
  }

  laneHeight(kind: "digital" | "analog" | "decoder"): number {
    // An analog lane that is alone has what room there is.
    if (kind === "analog" && this.source.lanes.length === 1) return Math.min(HEIGHTS.analogMax, Math.max(HEIGHTS.analog, this.room.value - RULER - this.rows.value.length * HEIGHTS.decoder));
    if (kind !== "digital") return HEIGHTS[kind];
    const lanes = this.source.lanes.filter((lane) => lane.kind === "digital").length;
    const rest = RULER + this.rows.value.length * HEIGHTS.decoder + (this.source.lanes.length - lanes) * HEIGHTS.analog;
    return Math.floor(Math.min(HEIGHTS.digitalMax, Math.max(HEIGHTS.digital, (this.room.value - rest) / lanes)));
  }

  /** The sample of time 0: where the trigger was met, or else the first one. */
  get zero(): number {
    return this.trigger.value ?? 0;
  }

  /** Seconds from time 0. */
  seconds(sample: number): number {
    return (sample - this.zero) / this.source.rate;
  }

  /** What a slow link lost. */
  get gaps(): readonly Gap[] {
    return this.source.gaps ?? [];
  }

  get level(): number {
    return Math.min(levelFor(this.view.peek(), this.columns), topLevel(this.source.samples));
  }

  pieces(): readonly Piece[] {
    return piecesFor(this.#cache, this.view.peek(), this.level, topLevel(this.source.samples));
  }

  topTile(): Tile | undefined {
    return this.#cache.get(topLevel(this.source.samples), 0);
  }

  /** Tiles of a live capture are out of date as soon as frames arrive. */
  forget(): void {
    this.#cache.clear();
    this.want();
  }

  /** Whether the view stays at the end of a capture that arrives. */
  readonly isAtEnd = computed(() => this.liveOf !== undefined && this.view.value.to >= this.view.value.samples);

  look(view: View): void {
    this.view.value = view;
    if (this.#timer === 0) this.#timer = setTimeout(() => this.want(), SETTLE_MS);
  }

  /** Shows a stretch with some of what is around it. */
  lookAt(from: number, to: number): void {
    const wide = Math.max(16, (to - from) * 8);
    const middle = (from + to) / 2;
    this.look(centre({ ...this.view.peek(), from: middle - wide / 2, to: middle + wide / 2 }, middle));
  }

  /** Moves to a stretch without zooming, unless it could not be seen as one. */
  goTo(from: number, to: number): void {
    const view = this.view.peek();
    const columns = ((to - from) / span(view)) * this.columns;
    if (columns >= COLUMNS_MIN && to - from < span(view)) this.look(centre(view, (from + to) / 2));
    else this.lookAt(from, to);
  }

  /** Moves to an instant; from afar, nearer. */
  goToInstant(sample: number): void {
    const view = this.view.peek();
    const half = Math.min(span(view), view.samples / 10) / 2;
    this.look(centre({ ...view, from: sample - half, to: sample + half }, sample));
  }

  /** Asks for what is seen and missing, coarse before fine; gives up what is not seen any more. */
  want(): void {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#stop.signal.aborted) return;
    for (const decoder of this.decoders.peek()) decoder.look(this.capture, this.view.peek(), () => this.edition.value++);
    const top = topLevel(this.source.samples);
    const level = this.level;
    const seen = tilesIn(this.view.peek(), level);
    const wanted: [level: number, index: number][] = [[top, 0], ...seen.map((index): [number, number] => [level, index])];
    const [first = 0, last = 0] = [seen[0], seen.at(-1)];
    const ahead: [number, number][] = [[level, last + 1], [level, first - 1], [level + 1, first >> 1], [level + 1, last >> 1]];
    const keys = new Set([...wanted, ...ahead].map(([l, i]) => `${l}/${i}`));
    for (const [key, load] of this.#loads) if (!keys.has(key)) load.abort();
    for (const [l, i] of wanted) void this.#load(l, i);
    if (this.#loads.size === 0) for (const [l, i] of ahead) if (l <= top) void this.#load(l, i);
  }

  async #load(level: number, index: number): Promise<void> {
    const key = `${level}/${index}`;
    const outside = index < 0 || index * tileSpan(level) >= this.source.samples;
    if (outside || this.#cache.get(level, index) || this.#loads.has(key) || this.#loads.size >= LOADS_MAX) return;
    const stop = new AbortController();
    this.#loads.set(key, stop);
    const tile = await this.source.load(level, index, stop.signal).catch(() => undefined);
    this.#loads.delete(key);
    if (tile) this.#cache.put(tile);
    this.edition.value++;
    // One that failed is not asked for again before the view moves: meanwhile its ancestor is drawn.
    if (tile || stop.signal.aborted) this.want();
  }

  async tile(level: number, index: number): Promise<Tile> {
    const there = this.#cache.get(level, index);
    if (there) return there;
    const tile = await this.source.load(level, index, this.#stop.signal);
    this.#cache.put(tile);
    return tile;
  }

  /** Puts a cursor at a sample, or at the edge of `lane` that is near it on the screen. */
  async place(cursor: "a" | "b", sample: number, lane: number): Promise<void> {
    const set = (at: number): void => void (this.cursors.value = { ...this.cursors.peek(), [cursor]: at });
    const near = Math.min(Math.max(0, Math.round(sample)), this.source.samples);
    set(near);
    const reach = (SNAP_PX * span(this.view.peek()) * devicePixelRatio) / this.columns;
    const piece = this.pieces().find(({ tile, first, last }) => {
      const at = (sample - tile.index * tileSpan(tile.level)) / 2 ** tile.level;
      return at >= first && at < last;
    });
    const edge = piece && nearestEdge(piece.tile, lane, sample, reach);
    if (!edge) return;
    const exact = await exactEdge(edge, lane, (level, index) => this.tile(level, index)).catch(() => near);
    // Another click may have come first.
    if (this.cursors.peek()[cursor] === near && !isUnknownEdge(this.gaps, exact)) set(exact);
  }

  /** Moves the view so that the next edge of the selected lane is in its middle. */
  async step(forward: boolean): Promise<void> {
    const view = this.view.peek();
    const middle = Math.round((view.from + view.to) / 2);
    const lane = this.selected.peek();
    const next = (at: number): Promise<number | undefined> => (this.lookups ? this.lookups.edge(lane, at, forward).catch(() => undefined) : this.#seenEdge(lane, at, forward));
    let edge = await next(middle);
    // Where a gap ends the level may be another one; whether that is an edge is not known.
    while (edge !== undefined && isUnknownEdge(this.gaps, edge)) edge = await next(edge);
    if (edge !== undefined) this.look(centre(this.view.peek(), edge));
  }

  /** The next edge among what is on the screen: all that a live capture has. */
  async #seenEdge(lane: number, middle: number, forward: boolean): Promise<number | undefined> {
    for (const { tile } of forward ? this.pieces() : [...this.pieces()].reverse()) {
      const levels = tile.parts[lane];
      if (levels?.kind !== "digital") return undefined;
      const stretch = 2 ** tile.level;
      const start = tile.index * tileSpan(tile.level);
      const way = forward ? 1 : -1;
      const begin = Math.floor((middle - start) / stretch) + way;
      for (let i = Math.min(1023, Math.max(0, begin)); i >= 0 && i < levels.levels.length; i += way) {
        const edge = nearestEdge(tile, lane, start + i * stretch, stretch);
        if (!edge || (forward ? edge.from <= middle : edge.from >= middle - 1)) continue;
        return exactEdge(edge, lane, (l, k) => this.tile(l, k));
      }
    }
    return undefined;
  }

  /** Marks what `who` has judged, in place of what it marked before. */
  judge(who: string, places: readonly Judged[]): void {
    this.#judged.value = { ...this.#judged.peek(), [who]: places };
  }

  /** The lane of a channel, by its name or label. */
  laneOf(channel: string): number | undefined {
    const at = this.source.lanes.findIndex(({ name, note }) => note === channel || name === channel);
    return at < 0 ? undefined : at;
  }

  /** `instead` of another one, whose place it takes. */
  addDecoder(decoding: Decoding, instead?: Decoder): void {
    const name = decodingText(decoding);
    if (this.decoders.peek().some(({ key }) => key === name)) return;
    const decoder = new Decoder(decoding);
    const all = this.decoders.peek();
    this.decoders.value = instead ? all.map((one) => (one === instead ? decoder : one)) : [...all, decoder];
    instead?.close();
    const changed = (): void => void this.edition.value++;
    if (this.liveOf !== undefined) return void decoder.follow(this.liveOf, this.capture, changed);
    // At its end it is known what it keeps; what is seen and not kept is read then.
    void decoder.read(this.capture, changed).then(() => this.want());
  }

  /** Lays another capture over this one, or none. */
  compare(golden: Golden | undefined): void {
    this.golden.peek()?.close();
    this.golden.value = golden;
    golden?.follow(() => void (this.edition.value = this.edition.peek() + 1));
  }

  removeDecoder(decoder: Decoder): void {
    decoder.close();
    this.decoders.value = this.decoders.peek().filter((one) => one !== decoder);
  }
}
