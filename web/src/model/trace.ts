// The timeline of a job, from what `GET /jobs/{id}/trace.json` gives for Perfetto. Times in seconds from the job's beginning. Pure.

export interface Stretch {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** A capture of the job. Its samples begin some milliseconds behind `from`, since the device is asked first. */
export interface Captured extends Stretch {
  readonly id: string;
}

export interface Line {
  readonly at: number;
  readonly text: string;
}

/** What one run did, or one device of it, or its serial line said. */
export interface Track {
  readonly id: number;
  readonly name: string;
  readonly steps: readonly Stretch[];
  readonly captures: readonly Captured[];
  readonly lines: readonly Line[];
}

/** A rail, measured after each step. */
export interface Rail {
  readonly name: string;
  readonly points: readonly { readonly at: number; readonly volts: number; readonly milliamperes: number }[];
}

export interface Trace {
  readonly tracks: readonly Track[];
  /** Rails that were never on are left out. */
  readonly rails: readonly Rail[];
  readonly seconds: number;
}

interface Event {
  readonly name?: string;
  readonly ph?: string;
  readonly tid?: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly id?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

const MICROSECONDS = 1e-6;

export function parseTrace(events: readonly unknown[]): Trace {
  const tracks = new Map<number, { id: number; name: string; order: number; steps: Stretch[]; captures: Captured[]; lines: Line[] }>();
  const rails = new Map<string, { at: number; volts: number; milliamperes: number }[]>();
  const begun = new Map<string, { tid: number; name: string; from: number }>();
  let seconds = 0;
  const track = (tid: number) => {
    const known = tracks.get(tid) ?? { id: tid, name: `${tid}`, order: tid, steps: [], captures: [], lines: [] };
    tracks.set(tid, known);
    return known;
  };
  for (const event of events as readonly Event[]) {
    const { name = "", ph, tid = 0, args = {}, id = "" } = event;
    const at = (event.ts ?? 0) * MICROSECONDS;
    const end = at + (event.dur ?? 0) * MICROSECONDS;
    if (ph !== "M") seconds = Math.max(seconds, end);
    if (ph === "M" && name === "thread_name") track(tid).name = String(args["name"]);
    if (ph === "M" && name === "thread_sort_index") track(tid).order = Number(args["sort_index"]);
    if (ph === "X") track(tid).steps.push({ name, from: at, to: end });
    if (ph === "i") track(tid).lines.push({ at, text: name });
    if (ph === "b") begun.set(id, { tid, name, from: at });
    if (ph === "C") rails.set(name, [...(rails.get(name) ?? []), { at, volts: Number(args["V"] ?? 0), milliamperes: Number(args["mA"] ?? 0) }]);
    const start = begun.get(id);
    if (ph !== "e" || !start) continue;
    begun.delete(id);
    track(start.tid).captures.push({ id, name: start.name, from: start.from, to: at });
  }
  for (const [id, { tid, name, from }] of begun) track(tid).captures.push({ id, name, from, to: seconds });
  return {
    tracks: [...tracks.values()].filter(({ steps, captures, lines }) => steps.length + captures.length + lines.length > 0).sort((a, b) => a.order - b.order),
    rails: [...rails].filter(([, points]) => points.some(({ volts }) => volts > 0.05)).map(([name, points]) => ({ name, points: points.toSorted((a, b) => a.at - b.at) })),
    seconds,
  };
}

export const captureOf = (trace: Trace, id: string): Captured | undefined => trace.tracks.flatMap(({ captures }) => captures).find((one) => one.id === id);
