// The decoders of a viewer: what each says, in rows that are drawn and searched.
import { type ReadonlySignal, signal } from "@preact/signals";
import { call, failureOf } from "../api/client.ts";
import type { Answer } from "../api/client.ts";
import { Annotations, type Block, type Density, blocks, densityBlocks } from "../model/annotations.ts";
import type { View } from "../model/axis.ts";
import { type Decoding, decodingText } from "../model/decoding.ts";
import { EVENTS_MAX, type Said, decode, density } from "./decoding.ts";
import { LiveDecoding } from "./live-decoding.ts";

/** How the server describes a decoder. */
export type Described = Answer<"GET /decoders">["decoders"][number];

/** Between two looks of the page at what has arrived. */
const SHOWN_EVERY_MS = 150;

/** Decoders that are known by their letters. */
const NAMES: Readonly<Record<string, string>> = { i2c: "I²C", "i2c-registers": "Registers", "uart-conversation": "UART lines" };

let described: Promise<readonly Described[]> | undefined;

/** What decoders there are; read once. */
export function allDecoders(): Promise<readonly Described[]> {
  described ??= call("GET /decoders").then(({ decoders }) => decoders);
  described.catch(() => (described = undefined));
  return described;
}

/** The class of what stands for samples that a slow link lost. */
const LOST = "lost";

/** The view settles before a decoder is asked about it. */
const SETTLE_MS = 200;

/** So many events of a view are read; of more it is known how many there are, and where. */
const SEEN_MAX = 20_000;

/** What a row says of a stretch behind the events that are kept. */
interface Glimpse {
  readonly from: number;
  readonly to: number;
  readonly said: Annotations | Density;
}

/** Decoders of an installed sigrok-cli are asked for by this option. */
export const SIGROK = { engine: "sigrok" } as const;

export const isSigrok = ({ options }: Pick<Decoding, "options">): boolean => options["engine"] === SIGROK.engine;

/** What a decoding's decoder is; of sigrok's, which stand on top of each other, all of them together. */
export async function describe({ protocol, options }: Pick<Decoding, "protocol" | "options">): Promise<Described> {
  const all = isSigrok({ options }) ? (await call("GET /decoders", { query: { ...SIGROK, protocol } })).decoders : (await allDecoders()).filter(({ id }) => id === protocol);
  const one = all.at(-1);
  if (!one) throw new Error(`There is no decoder ${protocol}.`);
  return one;
}

export class Row {
  readonly id: string;
  /** `I²C`, or with the row behind it where a decoder has several: `UART RX`. */
  readonly name: string;
  readonly annotations = new Annotations();
  glimpse: Glimpse | undefined;

  constructor(id: string, name: string) {
    this.id = id;
    this.name = name;
  }

  /** What is said of a view, to be read and searched: what is kept, or what was read of the view alone. */
  seen(view: View): Annotations {
    const said = this.#glimpse(view)?.said;
    return said instanceof Annotations ? said : this.annotations;
  }

  /** The same to be drawn. */
  blocks(view: View, width: number, least: number): readonly Block[] {
    const said = this.#glimpse(view)?.said;
    if (said === undefined || said instanceof Annotations) return blocks(said ?? this.annotations, view.from, view.to, width, least);
    return densityBlocks(said, view, width, least);
  }

  #glimpse({ from, to }: View): Glimpse | undefined {
    const { glimpse } = this;
    return glimpse && glimpse.from < to && from < glimpse.to ? glimpse : undefined;
  }
}

export class Decoder {
  readonly decoding: Decoding;
  readonly name: string;
  readonly rows: ReadonlySignal<readonly Row[]>;
  readonly state: ReadonlySignal<"reading" | "done" | "failed">;
  readonly message: ReadonlySignal<string | undefined>;
  #rows = signal<readonly Row[]>([]);
  #state = signal<"reading" | "done" | "failed">("reading");
  #message = signal<string | undefined>(undefined);
  #byClass = new Map<string, Row>();
  #stop = new AbortController();
  #live: LiveDecoding | undefined;
  #shown: readonly Described["rows"][number][] = [];
  /** The sample up to which all events are kept. */
  #upTo = Infinity;
  #looked: { readonly from: number; readonly to: number } | undefined;
  #looking = new AbortController();
  #timer = 0;

  constructor(decoding: Decoding) {
    this.decoding = decoding;
    const top = decoding.protocol.split(",").at(-1)!;
    this.name = NAMES[top] ?? top.toUpperCase();
    this.rows = this.#rows;
    this.state = this.#state;
    this.message = this.#message;
  }

  get key(): string {
    return decodingText(this.decoding);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#looking.abort();
    this.#stop.abort();
    this.#live?.close();
  }

  /** Called when the view has moved: behind the events that are kept, what is seen is read of its own. */
  look(capture: string, { from, to, samples }: View, changed: () => void): void {
    clearTimeout(this.#timer);
    if (to <= this.#upTo) return;
    if (this.#looked && this.#looked.from === from && this.#looked.to === to) return;
    this.#timer = setTimeout(() => {
      this.#looked = { from, to };
      const seen = { from: Math.max(0, Math.floor(from)), to: Math.min(samples, Math.ceil(to)) };
      void this.#see(capture, seen).then(changed, () => undefined);
    }, SETTLE_MS);
  }

  async #see(capture: string, { from, to }: { readonly from: number; readonly to: number }): Promise<void> {
    this.#looking.abort();
    const { signal } = (this.#looking = new AbortController());
    const counts = await density(capture, this.decoding, from, to, signal);
    const total = Object.values(counts).reduce((sum, each) => sum + each.reduce((a, b) => a + b, 0), 0);
    const rows = this.#rows.peek();
    const said = new Map<string, Annotations | Density>();
    if (total <= SEEN_MAX) {
      for (const { id } of rows) said.set(id, new Annotations());
      for await (const batch of decode(capture, this.decoding, this.#wanted, signal, { from, to, limit: SEEN_MAX }))
        this.#add(batch, ({ id }) => said.get(id) as Annotations | undefined);
    } else {
      for (const { id } of rows) said.set(id, { from, to, counts: this.#sum(id, counts) });
    }
    for (const row of rows) row.glimpse = { from, to, said: said.get(row.id)! };
  }

  /** The counts of the classes that a row has. */
  #sum(id: string, counts: Readonly<Record<string, readonly number[]>>): readonly number[] {
    const sum: number[] = [];
    for (const [kind, each] of Object.entries(counts)) if (this.#byClass.get(kind)?.id === id) each.forEach((n, i) => (sum[i] = (sum[i] ?? 0) + n));
    return sum;
  }

  /** The rows that are asked for, as the API takes them. */
  get #wanted(): string | undefined {
    return this.#shown.map(({ id }) => id).join(",") || undefined;
  }

  /** Reads all of it; `changed` is called as it arrives. */
  async read(capture: string, changed: () => void): Promise<void> {
    try {
      const one = await describe(this.decoding);
      // Bits are seen in the waves, and would be nine of ten annotations.
      this.#shown = one.rows.filter(({ id }) => !id.endsWith("bits"));
      let [last, events, start] = [performance.now(), 0, 0];
      for await (const batch of decode(capture, this.decoding, this.#wanted, this.#stop.signal, { limit: EVENTS_MAX })) {
        this.#add(batch);
        start = batch.at(-1)?.start ?? start;
        events += batch.length;
        if (performance.now() - last < SHOWN_EVERY_MS) continue;
        last = performance.now();
        changed();
      }
      if (events >= EVENTS_MAX) {
        this.#upTo = start;
        this.#message.value = `The first ${EVENTS_MAX.toLocaleString("en")} are kept; of later ones, those that are seen are read.`;
      }
      this.#state.value = "done";
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#message.value = failureOf(error).message;
      this.#state.value = "failed";
    }
    changed();
  }

  /** Decodes a capture while it arrives; `changed` is called when there is more. */
  async follow(device: string, capture: string, changed: () => void): Promise<void> {
    const fail = (message: string): void => {
      this.#message.value = message;
      this.#state.value = "failed";
      changed();
    };
    const one = await describe(this.decoding).catch((error: unknown) => fail(failureOf(error).message));
    if (!one || this.#stop.signal.aborted) return;
    this.#shown = one.rows.filter(({ id }) => !id.endsWith("bits"));
    this.#live = new LiveDecoding(device, capture, this.decoding, this.#wanted, {
      said: (events) => {
        this.#add(events);
        changed();
      },
      full: () => (this.#message.value = `The first ${EVENTS_MAX.toLocaleString("en")} are shown; all of them are in the capture once it is done.`),
      done: () => (this.#state.value = "done"),
      failed: fail,
    });
  }

  /** What a decoder says goes to its row, or to what stands for it. */
  #add(events: readonly Said[], into = ({ annotations }: Row): Annotations | undefined => annotations): void {
    for (const { start, end, class: kind, text, value } of events) into(this.#rowOf(kind))?.add({ start, end, kind, text: withCharacter(kind, text, value) });
  }

  #rowOf(kind: string): Row {
    const shown = this.#shown;
    const known = this.#byClass.get(kind);
    if (known) return known;
    // A gap is said among what the decoder says first.
    const one = shown.find(({ classes }) => classes.includes(kind)) ?? (kind === LOST ? shown[0] : undefined) ?? { id: kind, text: kind };
    let row = this.#rows.peek().find(({ id }) => id === one.id);
    if (!row) {
      const first = one.id === shown[0]?.id && !/^(rx|tx|miso|mosi)-/.test(one.id);
      row = new Row(one.id, first ? this.name : `${this.name} ${one.text}`);
      const order = shown.map(({ id }) => id);
      this.#rows.value = [...this.#rows.peek(), row].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
    }
    this.#byClass.set(kind, row);
    return row;
  }
}

/** `49 I`: a byte of a serial line is mostly a character. */
function withCharacter(kind: string, text: string, value: number | undefined): string {
  return /^[rt]x-data$/.test(kind) && value !== undefined && value > 0x20 && value < 0x7f ? `${text} ${String.fromCharCode(value)}` : text;
}
