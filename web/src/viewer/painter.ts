// Draws a viewer on two canvases: waves below, and above them what follows the pointer, so that moving it draws no wave.
import { type Ticks, type View, span, ticks, toSample, toX } from "../model/axis.ts";
import type { Annotations, Block } from "../model/annotations.ts";
import { gapAt, hiddenColumns, lostText } from "../model/gaps.ts";
import { type Ink, Pixels } from "../model/pixels.ts";
import { pulseAt, pulseText } from "../model/pulse.ts";
import { type Piece, analogColumns, digitalColumns } from "../model/tiles.ts";
import { type Colours, coloursOf, kindOf } from "./colours.ts";
import { RULER, type Viewer } from "./viewer.ts";

/** The shortest gap is so wide on the screen. */
const GAP_PX = 3;

export interface Place {
  readonly top: number;
  readonly height: number;
}

/** Where lanes and decoder rows are, in CSS pixels below the top of the canvas. */
export function places(viewer: Viewer): { readonly lanes: readonly Place[]; readonly rows: readonly Place[]; readonly height: number } {
  let top = RULER;
  const next = (height: number): Place => {
    const place = { top, height };
    top += height;
    return place;
  };
  const rows = viewer.rows.value.map(() => next(viewer.laneHeight("decoder")));
  const lanes = viewer.source.lanes.map((lane) => next(viewer.laneHeight(lane.kind)));
  return { lanes, rows, height: top };
}

export class Painter {
  #waves: CanvasRenderingContext2D;
  #over: CanvasRenderingContext2D;
  #viewer: Viewer;
  #colours: Colours;
  #width = 0;
  #height = 0;
  #ratio = 1;
  #image = new ImageData(1, 1);
  #pixels = new Pixels(1, 1);
  #frame = 0;
  #wavesDue = true;
  /** What the screen shows of each digital lane, kept for measuring under the pointer. */
  #levels: Uint8Array[] = [];
  #min = new Float32Array(0);
  #max = new Float32Array(0);
  #ranges = new Map<number, readonly [number, number]>();
  #levelsBelow = new Uint8Array(0);

  constructor(viewer: Viewer, waves: HTMLCanvasElement, over: HTMLCanvasElement) {
    this.#viewer = viewer;
    this.#waves = waves.getContext("2d", { alpha: false })!;
    this.#over = over.getContext("2d")!;
    this.#colours = coloursOf(waves);
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
  }

  recolour(): void {
    this.#colours = coloursOf(this.#waves.canvas);
    this.due(true);
  }

  resize(cssWidth: number, cssHeight: number): void {
    const [width, height] = [Math.round(cssWidth * devicePixelRatio), Math.round(cssHeight * devicePixelRatio)];
    if (width === this.#width && height === this.#height) return;
    [this.#ratio, this.#width, this.#height] = [devicePixelRatio, width, height];
    for (const { canvas } of [this.#waves, this.#over]) {
      canvas.width = this.#width;
      canvas.height = this.#height;
      canvas.style.height = `${cssHeight}px`;
    }
    this.#image = new ImageData(Math.max(1, this.#width), Math.max(1, this.#height));
    this.#pixels = new Pixels(this.#width, this.#height, new Uint32Array(this.#image.data.buffer));
    this.#viewer.columns = Math.max(1, this.#width);
    this.#levels = this.#viewer.source.lanes.map(() => new Uint8Array(this.#width));
    this.#min = new Float32Array(this.#width);
    this.#max = new Float32Array(this.#width);
    this.#levelsBelow = new Uint8Array(this.#width);
    this.due(true);
  }

  /** Draws in the next frame, once, however often it is asked for. */
  due(waves: boolean): void {
    this.#wavesDue ||= waves;
    if (this.#frame !== 0 || this.#width === 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const start = performance.now();
      if (this.#wavesDue) this.#drawWaves();
      this.#wavesDue = false;
      this.#drawOver();
      performance.measure("viewer.draw", { start });
      performance.clearMeasures("viewer.draw");
    });
  }

  #font(size: number, weight = 400): string {
    return `${weight} ${size * this.#ratio}px ${this.#colours.family}`;
  }

  /** Pixels first, then what is written on them. */
  #drawWaves(): void {
    const { lanes, rows } = places(this.#viewer);
    const view = this.#viewer.view.peek();
    const { source } = this.#viewer;
    const pieces = this.#viewer.pieces();
    const { zero } = this.#viewer;
    const times = ticks({ ...view, from: view.from - zero, to: view.to - zero }, source.rate, this.#width / this.#ratio);
    const written = this.#viewer.rows.peek().map((row) => ({ all: row.blocks(view, this.#width, 3 * this.#ratio), said: row.seen(view) }));
    this.#drawGrid(times, [...rows, ...lanes]);
    const below = this.#below(view);
    const hidden = hiddenColumns(this.#viewer.gaps, view, this.#width, GAP_PX * this.#ratio);
    source.lanes.forEach((lane, i) => {
      const ink = this.#colours.lanes[i % 8]!;
      if (lane.kind === "digital") {
        digitalColumns(pieces, i, view, this.#levels[i]!);
        for (const { from, to } of hidden) this.#levels[i]!.fill(0, from, to);
        const { high, low } = this.#levelRows(lanes[i]!);
        this.#pixels.digital(this.#levels[i]!, high, low, Math.max(1, Math.round(this.#ratio)), ink);
        if (below) this.#drawOther(below, i, lanes[i]!);
        for (const { from, to } of hidden) this.#drawLost(from, to, lanes[i]!);
      } else {
        if (below) this.#drawOtherAnalog(below, i, lanes[i]!);
        analogColumns(pieces, i, view, this.#min, this.#max);
        this.#drawAnalog(i, lanes[i]!, ink);
      }
    });
    written.forEach(({ all, said }, i) => this.#drawBlocks(all, said, rows[i]!));
    this.#waves.putImageData(this.#image, 0, 0);
    this.#waves.textBaseline = "middle";
    this.#writeTicks(times);
    source.lanes.forEach((lane, i) => lane.kind === "analog" && this.#writeRange(i, lanes[i]!, lane.unit));
    written.forEach(({ all, said }, i) => this.#writeBlocks(all, said, rows[i]!));
  }

  /** Where samples of a lane were lost. */
  #drawLost(from: number, to: number, { top, height }: Place): void {
    const r = this.#ratio;
    const { ground, lost } = this.#colours;
    this.#pixels.hatch(from, to, Math.round((top + 2) * r), Math.round((top + height - 3) * r), Math.round(7 * r), Math.max(2, Math.round(2 * r)), ground, lost);
  }

  /** The tiles of the capture that this one is compared with. */
  #below(view: View): { readonly pieces: readonly Piece[]; readonly view: View } | undefined {
    const golden = this.#viewer.golden.peek();
    if (!golden) return undefined;
    const seen = golden.viewBelow(view, this.#viewer.columns);
    return { pieces: golden.viewer.pieces(), view: seen };
  }

  /** The other capture's level as a line in the middle of the lane, and red strips along it where the two differ. */
  #drawOther({ pieces, view }: { readonly pieces: readonly Piece[]; readonly view: View }, lane: number, { top, height }: Place): void {
    const at = this.#viewer.golden.peek()!.lanes[lane];
    if (at === undefined) return;
    const r = this.#ratio;
    const [here, there] = [this.#levels[lane]!, this.#levelsBelow];
    digitalColumns(pieces, at, view, there);
    const isKnown = (level: number): boolean => level !== 0;
    for (let from = 0; from < there.length; ) {
      const differs = here[from] !== there[from] && isKnown(here[from]!) && isKnown(there[from]!);
      let to = from + 1;
      while (to < there.length && here[to] === here[from] && there[to] === there[from]) to++;
      if (differs) for (const y of [top + 1, top + height - 4]) this.#pixels.rect(from, y * r, to - from, 3 * r, this.#colours.kinds["bad"]!.line);
      from = to;
    }
    const inset = height / 3;
    this.#pixels.outline(there, Math.round((top + inset) * r), Math.round((top + height - inset) * r), Math.max(1, Math.round(r)), this.#colours.golden);
  }

  #drawOtherAnalog({ pieces, view }: { readonly pieces: readonly Piece[]; readonly view: View }, lane: number, place: Place): void {
    const at = this.#viewer.golden.peek()!.lanes[lane];
    if (at === undefined) return;
    const [min, max] = [this.#min, this.#max];
    this.#min = new Float32Array(this.#width);
    this.#max = new Float32Array(this.#width);
    analogColumns(pieces, at, view, this.#min, this.#max);
    this.#drawAnalog(lane, place, this.#colours.golden);
    [this.#min, this.#max] = [min, max];
  }

  #levelRows({ top, height }: Place): { readonly high: number; readonly low: number } {
    const inset = Math.max(5, height / 6);
    return { high: Math.round((top + inset) * this.#ratio), low: Math.round((top + height - inset) * this.#ratio) };
  }

  #drawGrid({ marks }: Ticks, all: readonly Place[]): void {
    const r = this.#ratio;
    const { ground, grid } = this.#colours;
    this.#pixels.clear(ground);
    for (const { seconds } of marks) this.#pixels.rect(this.#xOf(seconds), 18 * r, 1, this.#height, grid);
    for (const { top, height } of [{ top: 0, height: RULER }, ...all]) this.#pixels.rect(0, (top + height) * r - 1, this.#width, 1, grid);
  }

  /** Where a sample is, in pixels of the canvas. */
  #x(sample: number): number {
    return toX(this.#viewer.view.peek(), sample, this.#width);
  }

  #xOf(seconds: number): number {
    return Math.round(this.#x(seconds * this.#viewer.source.rate + this.#viewer.zero));
  }

  #fill(c: CanvasRenderingContext2D, colour: string, x: number, y: number, width: number, height: number, alpha = 1): void {
    c.fillStyle = colour;
    c.globalAlpha = alpha;
    c.fillRect(x, y, width, height);
    c.globalAlpha = 1;
  }

  #write(c: CanvasRenderingContext2D, colour: string, text: string, x: number, y: number): void {
    c.fillStyle = colour;
    c.fillText(text, x, y);
  }

  #writeTicks({ marks }: Ticks): void {
    const c = this.#waves;
    c.font = this.#font(11);
    for (const { seconds, text } of marks) this.#write(c, this.#colours.quiet, text, this.#xOf(seconds) + 4 * this.#ratio, 20 * this.#ratio);
  }

  #drawAnalog(lane: number, place: Place, ink: Ink): void {
    const range = this.#range(lane);
    if (!range) return;
    const r = this.#ratio;
    const [low, high] = range;
    const top = (place.top + 6) * r;
    const bottom = (place.top + place.height - 6) * r;
    const y = (value: number): number => bottom - ((value - low) / (high - low)) * (bottom - top);
    if (low < 0 && high > 0) this.#pixels.rect(0, y(0), this.#width, 1, this.#colours.grid);
    this.#pixels.analog(this.#min, this.#max, y, 1.25 * r, ink);
  }

  #writeRange(lane: number, { top, height }: Place, unit: string): void {
    const c = this.#waves;
    const r = this.#ratio;
    c.font = this.#font(10);
    const [low, high] = this.#range(lane) ?? [NaN, NaN];
    if (Number.isNaN(low)) return;
    for (const [value, y] of [[high, top + 11], [low, top + height - 11]] as const) {
      const text = `${Number(value.toPrecision(3))} ${unit}`.replace("-", "−");
      this.#fill(c, this.#colours.back, 2 * r, (y - 7) * r, c.measureText(text).width + 4 * r, 14 * r, 0.8);
      this.#write(c, this.#colours.quiet, text, 4 * r, y * r);
    }
  }

  /** Of the whole capture, so that the scale stands still while one moves through it. */
  #range(lane: number): readonly [number, number] | undefined {
    const known = this.#ranges.get(lane);
    if (known) return known;
    const part = this.#viewer.topTile()?.parts[lane];
    if (part?.kind !== "analog") return undefined;
    let [low, high] = [Infinity, -Infinity];
    for (const value of part.min) if (value < low) low = value;
    for (const value of part.max) if (value > high) high = value;
    if (low > high) return undefined;
    const room = (high - low || 1) * 0.05;
    this.#ranges.set(lane, [low - room, high + room]);
    return this.#ranges.get(lane);
  }

  #drawBlocks(all: readonly Block[], annotations: Annotations, { top, height }: Place): void {
    const r = this.#ratio;
    const { kinds, ground } = this.#colours;
    const [y, tall] = [Math.round((top + 3) * r), Math.round((height - 6) * r)];
    for (const { x, width, index, count } of all) {
      const wide = width - (width > 6 * r ? r : 0);
      const ink = kinds[count > 1 || index < 0 ? "data" : kindOf(annotations.said(index).kind)]!;
      this.#pixels.rect(x, y, wide, tall, count > 1 ? ink.busy : ink.line);
      if (wide < 4 * r) continue;
      for (const corner of [x, x + wide - r]) for (const end of [y, y + tall - r]) this.#pixels.rect(corner, end, r, r, ground);
    }
  }

  #writeBlocks(all: readonly Block[], annotations: Annotations, { top, height }: Place): void {
    const c = this.#waves;
    const r = this.#ratio;
    c.font = this.#font(11, 500);
    c.textAlign = "center";
    const letter = c.measureText("0").width;
    for (const { x, width, index, count } of all) {
      const room = Math.floor((width - 8 * r) / letter);
      if (room < 1) continue;
      const words = count > 1 || index < 0 ? `${count}×` : fitting(annotations.said(index).text, room);
      if (words === "" || room < words.length) continue;
      this.#write(c, count > 1 ? this.#colours.text : this.#colours.back, words, x + width / 2, (top + height / 2) * r + 0.5);
    }
    c.textAlign = "start";
  }

  #drawOver(): void {
    const c = this.#over;
    c.clearRect(0, 0, this.#width, this.#height);
    c.textBaseline = "middle";
    c.font = this.#font(11, 500);
    this.#drawPlaces(c);
    this.#drawJudged(c);
    this.#drawTrigger(c);
    this.#drawMarkers(c);
    const { a, b } = this.#viewer.cursors.peek();
    const [first, second] = [a, b].map((sample) => this.#x(sample ?? NaN)) as [number, number];
    // Where one of them is missing, its place is no number and nothing is filled.
    this.#fill(c, this.#colours.cursor, first, RULER * this.#ratio, second - first, this.#height, 0.09);
    for (const [name, x] of [["A", first], ["B", second]] as const) if (x >= -8 && x <= this.#width + 8) this.#drawCursor(c, name, x);
    this.#drawHover(c);
  }

  /** What a search has found: bands, of which those too narrow to be seen get a pixel. */
  #drawPlaces(c: CanvasRenderingContext2D): void {
    let behind = -1;
    for (const { from, to } of this.#viewer.places.peek()) {
      const [x, end] = [this.#x(from), this.#x(to)];
      if (end < 0 || x > this.#width || end < behind) continue;
      const left = Math.max(x, behind);
      behind = Math.max(end, left + this.#ratio);
      this.#fill(c, this.#colours.cursor, left, RULER * this.#ratio, behind - left, this.#height, 0.25);
    }
  }

  /** Where rules were judged: a frame around the lane, red where one does not hold. */
  #drawJudged(c: CanvasRenderingContext2D): void {
    const r = this.#ratio;
    const { lanes } = places(this.#viewer);
    const end = lanes.at(-1);
    for (const { from, to, lane, isGood } of this.#viewer.judged.peek()) {
      const [x, behind] = [this.#x(from), this.#x(to)];
      if (behind < 0 || x > this.#width || !end) continue;
      const { top, height } = (lane === undefined ? undefined : lanes[lane]) ?? { top: RULER, height: end.top + end.height - RULER };
      const [left, wide] = [Math.max(-2 * r, x), Math.max(2 * r, Math.min(behind, this.#width + 2 * r) - Math.max(-2 * r, x))];
      const colour = (c.strokeStyle = isGood ? this.#colours.good : this.#colours.bad);
      this.#fill(c, colour, left, (top + 1) * r, wide, (height - 2) * r, 0.18);
      c.lineWidth = Math.max(1, Math.round(r));
      c.strokeRect(left, (top + 2) * r, wide, (height - 4) * r);
    }
    c.lineWidth = 1;
  }

  /** Time 0, where the trigger was met. */
  #drawTrigger(c: CanvasRenderingContext2D): void {
    if (this.#viewer.trigger.peek() === undefined) return;
    const r = this.#ratio;
    const x = Math.round(this.#x(this.#viewer.zero));
    if (x < -8 * r || x > this.#width + 8 * r) return;
    for (let y = RULER * r; y < this.#height; y += 8 * r) this.#fill(c, this.#colours.text, x, y, Math.max(1, Math.round(r)), 4 * r, 0.7);
    c.beginPath();
    c.moveTo(x - 5 * r, (RULER - 8) * r);
    c.lineTo(x + 5 * r, (RULER - 8) * r);
    c.lineTo(x, RULER * r);
    c.fill();
  }

  /** Flags below the ruler, with their notes as far as they fit. */
  #drawMarkers(c: CanvasRenderingContext2D): void {
    const r = this.#ratio;
    for (const { sample, note } of this.#viewer.markers.peek()) {
      const x = Math.round(this.#x(sample));
      if (x < -200 * r || x > this.#width) continue;
      this.#fill(c, this.#colours.accent, x, RULER * r, Math.max(1, Math.round(r)), this.#height);
      const words = note.length > 24 ? `${note.slice(0, 23)}…` : note;
      const wide = c.measureText(words).width + 8 * r;
      c.fillRect(x, 0, wide, 14 * r);
      this.#write(c, this.#colours.back, words, x + 4 * r, 7.5 * r);
    }
  }

  #drawCursor(c: CanvasRenderingContext2D, name: string, x: number): void {
    const r = this.#ratio;
    this.#fill(c, this.#colours.cursor, Math.round(x), 14 * r, Math.max(1, Math.round(r)), this.#height);
    c.beginPath();
    c.roundRect(Math.round(x) - 8 * r, 0, 16 * r, 14 * r, 3 * r);
    c.fill();
    c.textAlign = "center";
    this.#write(c, this.#colours.back, name, x, 7.5 * r);
    c.textAlign = "start";
  }

  /** A line at the pointer and, on a pulse, its width: what one looks for most. */
  #drawHover(c: CanvasRenderingContext2D): void {
    const hover = this.#viewer.hover.peek();
    if (!hover) return;
    const r = this.#ratio;
    const view = this.#viewer.view.peek();
    const x = Math.round(this.#x(hover.sample));
    this.#fill(c, this.#colours.quiet, x, RULER * r, 1, this.#height, 0.5);
    const { lanes } = places(this.#viewer);
    const place = lanes[hover.lane];
    if (place && this.#labelLost(c, hover.sample, place)) return;
    const levels = this.#levels[hover.lane];
    const pulse = levels && place ? pulseAt(levels, Math.min(levels.length - 1, Math.max(0, x))) : undefined;
    if (!pulse || !place || pulse.to - pulse.from < 12 * r) return;
    const rate = this.#viewer.source.rate;
    const isExact = this.#viewer.level === 0 && this.#width >= span(view) * 4;
    const long = (end: number): number => {
      const samples = toSample(view, end, this.#width) - toSample(view, pulse.from, this.#width);
      return (isExact ? Math.round(samples) : samples) / rate;
    };
    const y = Math.round((place.top + place.height / 2) * r);
    this.#fill(c, this.#colours.text, pulse.from, y, (pulse.period ?? pulse.to) - pulse.from, 1);
    for (const end of [pulse.from, pulse.to - 1, ...(pulse.period ? [pulse.period - 1] : [])]) this.#fill(c, this.#colours.text, end, y - 3 * r, 1, 7 * r);
    const words = pulseText(long(pulse.to), pulse.period && long(pulse.period), pulse.isHigh, isExact);
    this.#label(c, words, (pulse.from + pulse.to) / 2, (lanes.at(-1) === place ? place.top - 10 : place.top + place.height + 10) * r);
  }

  /** Says which samples were lost at the pointer. */
  #labelLost(c: CanvasRenderingContext2D, sample: number, { top, height }: Place): boolean {
    const r = this.#ratio;
    const reach = (GAP_PX * r * span(this.#viewer.view.peek())) / this.#width;
    const gap = gapAt(this.#viewer.gaps, sample) ?? gapAt(this.#viewer.gaps, sample - reach);
    if (!gap) return false;
    const [from, to] = [gap.from, gap.to].map((at) => Math.min(Math.max(this.#x(at), 0), this.#width)) as [number, number];
    this.#label(c, lostText(gap, this.#viewer.source.rate), (from + to) / 2, (top + height / 2) * r);
    return true;
  }

  #label(c: CanvasRenderingContext2D, text: string, middle: number, y: number): void {
    const r = this.#ratio;
    const wide = c.measureText(text).width + 12 * r;
    const left = Math.min(Math.max(middle - wide / 2, 2), this.#width - wide - 2);
    c.fillStyle = this.#colours.back;
    c.beginPath();
    c.roundRect(left, y - 9 * r, wide, 18 * r, 4 * r);
    c.fill();
    c.strokeStyle = this.#colours.quiet;
    c.stroke();
    this.#write(c, this.#colours.text, text, left + 6 * r, y + 0.5);
  }
}

/** As much of a text as fits: whole, then its value alone, then nothing. */
function fitting(text: string, room: number): string {
  if (text.length <= room) return text;
  // Of `DS1307 0x68: read hours = 0x23 (hours 23)` first the device is left out, then what it means.
  const said = text.slice(text.indexOf(": ") + 1).trimStart();
  const named = said.replace(/ \(.*\)$/, "");
  for (const less of [said, named]) if (less.length <= room && less !== text) return less;
  const value = named.slice(named.lastIndexOf(" ") + 1);
  return value.length <= room && value !== text ? value : room >= 3 ? `${text.slice(0, room - 1)}…` : room >= 1 && text.length > 2 ? text.slice(0, 1) : "";
}
