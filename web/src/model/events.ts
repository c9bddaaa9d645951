// What the server says of what happens, and what is to be read again then. Pure.

export interface Happened {
  /** `lease.taken`; also `ready` and `reset`, which are about everything. */
  readonly kind: string;
  /** The place behind it, from which a later stream goes on. */
  readonly place: string;
  readonly subject?: string;
  readonly device?: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Server-sent events, line by line: fields until an empty line. Comments, which only show that the line is alive, are none. */
export class EventReader {
  #place = "";
  #kind = "";
  #data: string[] = [];

  line(text: string): Happened | undefined {
    if (text === "") return this.#end();
    const [, name, value] = /^([^:]*):? ?([^]*?)\r?$/.exec(text)!;
    if (name === "id") this.#place = value!;
    if (name === "event") this.#kind = value!;
    if (name === "data") this.#data.push(value!);
    return undefined;
  }

  #end(): Happened | undefined {
    const [kind, text] = [this.#kind, this.#data.join("\n")];
    this.#kind = "";
    this.#data = [];
    if (kind === "") return undefined;
    const details = detailsOf(text);
    const device = details["device"] as { readonly id?: string } | null | undefined;
    return { kind, place: this.#place, details, ...(typeof details["subject"] === "string" ? { subject: details["subject"] } : {}), ...(device?.id ? { device: device.id } : {}) };
  }
}

function detailsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

interface Concern {
  /** Kinds, or how they begin. */
  readonly on: readonly string[];
  /** What the second word of the key names; without it each event of the kinds is meant. */
  readonly by?: "device" | "subject";
  /** Other things change it as well, so it is asked for again and again. */
  readonly isAsked?: true;
}

/** By the first word of the key of what is read. */
const CONCERNS: ReadonlyMap<string, Concern> = new Map(Object.entries<Concern>({
  devices: { on: ["device", "lease", "update"] },
  device: { on: ["device", "lease", "update"], by: "device" },
  power: { on: ["device", "lease", "flash", "update"], by: "device", isAsked: true },
  wiring: { on: ["device.changed"], by: "device", isAsked: true },
  captures: { on: ["capture"] },
  capture: { on: ["capture"], by: "subject" },
  flashes: { on: ["flash"], by: "device" },
  update: { on: ["update"], by: "device" },
  jobs: { on: ["job"] },
  job: { on: ["job"], by: "subject" },
  why: { on: ["job"], by: "subject" },
  cases: { on: ["job"], by: "subject" },
  artifacts: { on: ["job"], by: "subject" },
  history: { on: ["job.finished"] },
  measurements: { on: ["job.finished"] },
  values: { on: ["job.finished"] },
  flashable: { on: ["job.finished"], isAsked: true },
}));

/** Whether events say all that changes what is read under this key. */
export function isTold(key: string): boolean {
  const concern = CONCERNS.get(key.split(" ", 1)[0]!);
  return concern !== undefined && !concern.isAsked;
}

export function concerns(key: string, happened: Happened): boolean {
  const [what, id] = key.split(" ", 2);
  const concern = CONCERNS.get(what!);
  return concern !== undefined && concern.on.some((kind) => happened.kind === kind || happened.kind.startsWith(`${kind}.`)) && (concern.by === undefined || happened[concern.by] === id);
}
