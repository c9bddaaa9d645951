// The decoders of a viewer: what each says, in rows that are drawn and searched.
import { type ReadonlySignal, signal } from "@preact/signals";
import { call, failureOf } from "../api/client.ts";
import type { Answer } from "../api/client.ts";
import { Annotations } from "../model/annotations.ts";
import { type Decoding, decodingText } from "../model/decoding.ts";
import { EVENTS_MAX, decode } from "./decoding.ts";

/** How the server describes a decoder. */
export type Described = Answer<"GET /decoders">["decoders"][number];

/** Between two looks of the page at what has arrived. */
const SHOWN_EVERY_MS = 150;

/** Decoders that are known by their letters. */
const NAMES: Readonly<Record<string, string>> = { i2c: "I²C" };

let described: Promise<readonly Described[]> | undefined;

/** What decoders there are; read once. */
export function allDecoders(): Promise<readonly Described[]> {
  described ??= call("GET /decoders").then(({ decoders }) => decoders);
  described.catch(() => (described = undefined));
  return described;
}

export interface Row {
  readonly id: string;
  /** `I²C`, or with the row behind it where a decoder has several: `UART RX`. */
  readonly name: string;
  readonly annotations: Annotations;
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

  constructor(decoding: Decoding) {
    this.decoding = decoding;
    this.name = NAMES[decoding.protocol] ?? decoding.protocol.toUpperCase();
    this.rows = this.#rows;
    this.state = this.#state;
    this.message = this.#message;
  }

  get key(): string {
    return decodingText(this.decoding);
  }

  close(): void {
    this.#stop.abort();
  }

  /** Reads all of it; `changed` is called as it arrives. */
  async read(capture: string, changed: () => void): Promise<void> {
    try {
      const one = (await allDecoders()).find(({ id }) => id === this.decoding.protocol);
      if (!one) throw new Error(`There is no decoder ${this.decoding.protocol}.`);
      // Bits are seen in the waves, and would be nine of ten annotations.
      const shown = one.rows.filter(({ id }) => !id.endsWith("bits"));
      const wanted = shown.map(({ id }) => id).join(",") || undefined;
      let [last, events] = [performance.now(), 0];
      for await (const batch of decode(capture, this.decoding, wanted, this.#stop.signal)) {
        for (const { start, end, class: kind, text } of batch) this.#rowOf(kind, shown).annotations.add({ start, end, kind, text });
        events += batch.length;
        if (performance.now() - last < SHOWN_EVERY_MS) continue;
        last = performance.now();
        changed();
      }
      if (events >= EVENTS_MAX) this.#message.value = `Only the first ${EVENTS_MAX.toLocaleString("en")} are shown.`;
      this.#state.value = "done";
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#message.value = failureOf(error).message;
      this.#state.value = "failed";
    }
    changed();
  }


  #rowOf(kind: string, shown: readonly Described["rows"][number][]): Row {
    const known = this.#byClass.get(kind);
    if (known) return known;
    const one = shown.find(({ classes }) => classes.includes(kind)) ?? { id: kind, text: kind };
    let row = this.#rows.peek().find(({ id }) => id === one.id);
    if (!row) {
      const first = one.id === shown[0]?.id && !/^(rx|tx|miso|mosi)-/.test(one.id);
      row = { id: one.id, name: first ? this.name : `${this.name} ${one.text}`, annotations: new Annotations() };
      const order = shown.map(({ id }) => id);
      this.#rows.value = [...this.#rows.peek(), row].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
    }
    this.#byClass.set(kind, row);
    return row;
  }
}
