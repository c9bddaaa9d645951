// What decoders say, sorted and ready to be drawn and searched. Pure.

export interface Annotation {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  readonly text: string;
}

/** An annotation that comes later than so many that follow it is sorted in when it is read. */
const SHIFTS_MAX = 256;

/** One row of a decoder, as columns: a million annotations take some 20 MB, as objects four times that. */
export class Annotations {
  #length = 0;
  #starts = new Float64Array(1024);
  #ends = new Float64Array(1024);
  /** Decoders repeat themselves, so what they say is kept once. */
  #words = new Uint32Array(1024);
  #said: { readonly kind: string; readonly text: string }[] = [];
  #known = new Map<string, number>();
  #isSorted = true;

  get length(): number {
    return this.#length;
  }

  /** Decoders speak in the order in which they know, not in that of the samples: an address comes after its direction. */
  add({ start, end, kind, text }: Annotation): void {
    if (this.#length === this.#starts.length) this.#grow();
    let at = this.#length++;
    const least = Math.max(0, at - SHIFTS_MAX);
    for (; at > 0 && (this.#starts[at - 1]! > start || (this.#starts[at - 1] === start && this.#ends[at - 1]! > end)); at--) {
      if (at === least) {
        this.#isSorted = false;
        break;
      }
      this.#starts[at] = this.#starts[at - 1]!;
      this.#ends[at] = this.#ends[at - 1]!;
      this.#words[at] = this.#words[at - 1]!;
    }
    this.#starts[at] = start;
    this.#ends[at] = end;
    this.#words[at] = this.#word(kind, text);
  }

  #word(kind: string, text: string): number {
    const key = `${kind}\0${text}`;
    let word = this.#known.get(key);
    if (word === undefined) {
      word = this.#said.push({ kind, text }) - 1;
      this.#known.set(key, word);
    }
    return word;
  }

  #grow(): void {
    const size = this.#starts.length * 2;
    const [starts, ends, words] = [new Float64Array(size), new Float64Array(size), new Uint32Array(size)];
    starts.set(this.#starts);
    ends.set(this.#ends);
    words.set(this.#words);
    [this.#starts, this.#ends, this.#words] = [starts, ends, words];
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#isSorted = true;
    const [starts, ends, words] = [this.#starts.slice(), this.#ends.slice(), this.#words.slice()];
    const order = Uint32Array.from({ length: this.#length }, (_, i) => i).sort((a, b) => starts[a]! - starts[b]! || ends[a]! - ends[b]!);
    order.forEach((from, to) => {
      this.#starts[to] = starts[from]!;
      this.#ends[to] = ends[from]!;
      this.#words[to] = words[from]!;
    });
  }

  start(index: number): number {
    this.#sort();
    return this.#starts[index]!;
  }

  end(index: number): number {
    this.#sort();
    return this.#ends[index]!;
  }

  said(index: number): { readonly kind: string; readonly text: string } {
    this.#sort();
    return this.#said[this.#words[index]!]!;
  }

  /** The first that ends behind `sample`. Annotations of a row do not overlap, so their ends are sorted as well. */
  firstBehind(sample: number, from = 0): number {
    this.#sort();
    let low = from;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ends[middle]! > sample || this.#starts[middle]! > sample) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Positions of those whose text or kind has `needle` in it: what is said is searched once, not each time it is said. */
  search(needle: string): readonly number[] {
    this.#sort();
    const wanted = needle.toLowerCase();
    const hit = this.#said.map(({ kind, text }) => text.toLowerCase().includes(wanted) || kind.includes(wanted));
    const found: number[] = [];
    for (let i = 0; i < this.#length; i++) if (hit[this.#words[i]!]) found.push(i);
    return found;
  }
}

/** A block on the screen: one annotation, or several that are too narrow to be seen apart. */
export interface Block {
  x: number;
  width: number;
  /** The first annotation of it. */
  readonly index: number;
  count: number;
}

/** How many annotations begin in each of equal stretches: what is known from afar of more than a page can keep. */
export interface Density {
  readonly from: number;
  readonly to: number;
  readonly counts: readonly number[];
}

/** Stretches with annotations as blocks; those that touch are one. */
export function densityBlocks({ from, to, counts }: Density, view: { readonly from: number; readonly to: number }, width: number, least = 3): readonly Block[] {
  const scale = width / (view.to - view.from);
  const stretch = (to - from) / counts.length;
  const all: Block[] = [];
  counts.forEach((count, i) => {
    const [left, right] = [(from + i * stretch - view.from) * scale, (from + (i + 1) * stretch - view.from) * scale];
    if (count === 0 || right <= 0 || left >= width) return;
    const x = Math.max(0, left);
    const end = Math.min(width, Math.max(right, x + least));
    const last = all.at(-1);
    if (last && x - (last.x + last.width) < 1) {
      last.width = Math.max(last.width, end - last.x);
      last.count += count;
    } else {
      all.push({ x, width: end - x, index: -1, count });
    }
  });
  return all;
}

/** What is narrower than `least` pixels merges; a search jumps over what merges, so this takes a screen's time. */
export function blocks(row: Annotations, from: number, to: number, width: number, least = 3): readonly Block[] {
  const scale = width / (to - from);
  const all: Block[] = [];
  for (let i = row.firstBehind(from); i < row.length && row.start(i) < to; ) {
    const x = Math.max(0, (row.start(i) - from) * scale);
    const end = Math.min(width, (row.end(i) - from) * scale);
    if (end - x >= least) {
      all.push({ x, width: end - x, index: i++, count: 1 });
      continue;
    }
    const next = Math.max(i + 1, row.firstBehind(from + (x + least) / scale, i));
    const last = all.at(-1);
    if (next - i > 1 && last && last.count > 1 && x - (last.x + last.width) < 1) {
      last.width = x + least - last.x;
      last.count += next - i;
    } else {
      all.push({ x, width: least, index: i, count: next - i });
    }
    i = next;
  }
  return all;
}
