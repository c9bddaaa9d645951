// The serial line of a device: a WebSocket that goes on where it broke off, a screen and the bytes themselves.
import { type ReadonlySignal, signal } from "@preact/signals";
import { Socket } from "../api/socket.ts";
import { HexDump } from "../model/hex.ts";
import { Screen } from "../model/screen.ts";
import { count } from "../ui/time.ts";

const HISTORY = 50_000;
const COLUMNS = 160;
const ROWS = 40;
/** Bytes that the hex view keeps. */
const BYTES_MAX = 1 << 20;

/** So often the page around the screen hears of bytes: it is searched and drawn again then. */
const COUNTED_MS = 100;

/** Which pins and rate a person asked for; what is missing has the device's wiring. */
export interface Parameters {
  readonly rx?: string | undefined;
  readonly tx?: string | undefined;
  readonly baud?: string | undefined;
}

/** What the server says of the open line. */
export interface Open {
  readonly rx: number;
  readonly tx: number;
  readonly baud: number;
  readonly writable: boolean;
  readonly parity?: string;
}

export class SerialLine {
  readonly screen = new Screen({ columns: COLUMNS, rows: ROWS, history: HISTORY });
  readonly dump = new HexDump(BYTES_MAX);
  readonly socket: Socket;
  readonly open: ReadonlySignal<Open | undefined>;
  readonly notice: ReadonlySignal<string | undefined>;
  readonly received: ReadonlySignal<number>;
  #open = signal<Open | undefined>(undefined);
  #notice = signal<string | undefined>(undefined);
  #received = signal(0);
  /** Counted from where the server says; a connection that comes back goes on there and misses nothing. */
  #position: number | undefined;
  #changed: () => void;
  #bytes = 0;
  #timer = 0;

  /** `changed` is called when there is something to draw. */
  constructor(device: string, parameters: Parameters, changed: () => void) {
    this.open = this.#open;
    this.notice = this.#notice;
    this.received = this.#received;
    this.#changed = changed;
    this.socket = new Socket(() => this.#address(device, parameters), {
      text: (message) => this.#hear(message),
      bytes: (message) => this.#take(new Uint8Array(message)),
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.socket.close();
  }

  send(text: string): void {
    this.socket.send(new TextEncoder().encode(text));
  }

  ask(message: { readonly type: string } & Readonly<Record<string, unknown>>): void {
    this.socket.send(JSON.stringify(message));
  }

  clear(): void {
    this.screen.clear();
    this.dump.clear();
    this.#changed();
  }

  #address(device: string, { rx, tx, baud }: Parameters): string {
    const query = new URLSearchParams();
    if (rx) query.set("rx", rx);
    if (tx) query.set("tx", tx);
    if (baud) query.set("baud", baud);
    if (this.#position !== undefined) query.set("after", String(this.#position));
    return `/api/bench/devices/${device}/uart/ws?${query}`;
  }

  #hear(message: { readonly type: string } & Readonly<Record<string, unknown>>): void {
    switch (message.type) {
      case "open":
        this.#position ??= message["offset"] as number;
        this.#open.value = message as unknown as Open;
        this.#notice.value = message["because"] === "device_back" ? "The device was away and is back." : undefined;
        break;
      case "overrun": {
        const [from, to] = [message["from"] as number, message["to"] as number];
        this.#position = to;
        this.screen.write(`\r\n\x1b[7m ${count(to - from)} bytes are missing here \x1b[0m\r\n`);
        break;
      }
      case "baud":
      case "parity":
        if (this.#open.peek()) this.#open.value = { ...this.#open.peek()!, [message.type]: message[message.type] };
        break;
      case "flash":
        this.#notice.value = message["state"] === "begun" ? "The target is being flashed; the console stays open." : `Flashing: ${String(message["state"])}.`;
        break;
      case "update":
        this.#notice.value = message["state"] === "begun" ? "The pod's own firmware is being updated." : `Update: ${String(message["state"])}.`;
        break;
      case "lease_lost":
        this.#notice.value = "A lease of this device has begun or ended: the line opens again when it may.";
        break;
      case "error":
        this.#notice.value = String(message["message"]);
        break;
    }
    this.#changed();
  }

  #take(bytes: Uint8Array): void {
    if (this.#position !== undefined) this.#position += bytes.length;
    this.#bytes += bytes.length;
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.#received.value = this.#bytes;
    }, COUNTED_MS);
    this.screen.feed(bytes);
    this.dump.append(bytes);
    this.#changed();
  }
}
