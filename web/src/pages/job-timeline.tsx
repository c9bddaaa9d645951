// A job on one axis: its steps, what its serial line said, its rails, and the waves of all that it captured.
import { useEffect, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { JobsJob } from "../api/schema.ts";
import { duration, instant, zoom } from "../model/axis.ts";
import { HeldSource, JoinedSource, type Member } from "../model/joined.ts";
import type { TileSource } from "../model/tiles.ts";
import { type Captured, type Trace, parseTrace } from "../model/trace.ts";
import { query } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Head } from "../ui/head.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { restore } from "../viewer/address.ts";
import { Row } from "../viewer/decoders.ts";
import { Shown } from "../viewer/shown.tsx";
import { StoredSource, readCapture } from "../viewer/sources.ts";
import { Viewer } from "../viewer/viewer.ts";
import { verdictOf } from "./job-state.ts";

/** Times of a trace are microseconds. */
const RATE_MIN = 1e6;
/** So many captures are drawn; others are bars. */
const CAPTURES_MAX = 8;
const LINE_S = 0.2;

interface Known {
  readonly job: JobsJob;
  readonly trace: Trace;
  readonly members: readonly Member[];
}

/** Lanes say of which capture they are. */
function named(source: TileSource, name: string, isAlone: boolean): TileSource {
  const lanes = source.lanes.map((lane) => ({ ...lane, name: isAlone ? lane.name : `${name} ${lane.name}`, note: `${name} ${lane.note ?? lane.name}` }));
  return { lanes, samples: source.samples, rate: source.rate, load: (level, index, signal) => source.load(level, index, signal) };
}

async function read(id: string, signal: AbortSignal): Promise<Known> {
  const [job, events] = await Promise.all([call("GET /jobs/{id}", { path: { id } }, signal), call("GET /jobs/{id}/trace.json", { path: { id } }, signal)]);
  const trace = parseTrace(events);
  const kept = new Set((job.captures ?? []).filter(({ is_done }) => is_done).map((capture) => capture.id));
  const captures = trace.tracks.flatMap((track) => track.captures).filter((capture) => kept.has(capture.id)).slice(0, CAPTURES_MAX);
  const members = await Promise.all(captures.map(async ({ id: capture, name, from }): Promise<readonly Member[]> => {
    const found = await readCapture(capture, signal).catch(() => undefined);
    return found && found.channels.length > 0 ? [{ from, source: named(new StoredSource(found), name, captures.length === 1) }] : [];
  }));
  const rails = trace.rails.map(({ name, points }): Member => ({
    from: 0,
    source: new HeldSource([{ name: `${name} V`, kind: "analog", unit: "V" }, { name: `${name} mA`, kind: "analog", unit: "mA" }], points.map(({ at }) => at), [points.map(({ volts }) => volts), points.map(({ milliamperes }) => milliamperes)], trace.seconds, RATE_MIN),
  }));
  return { job, trace, members: [...members.flat(), ...rails] };
}

export default function JobTimelinePage({ id }: { id: string }) {
  const known = useResource(`timeline ${id}`, (signal) => read(id, signal));
  const found = known.data.value;
  if (found && found.trace.seconds > 0) return <Timeline key={id} known={found} />;
  return (
    <main class="page">
      <Head title="Timeline" note={<a href={`/jobs/${id}`}>The job</a>} />
      <Loaded resource={known} rows={8}>{() => <Empty icon="clock" title="Nothing has happened yet"><p>The timeline is there once a run of the job has ended.</p><a class="button" href={`/jobs/${id}`}>Back to the job</a></Empty>}</Loaded>
    </main>
  );
}

function Timeline({ known: { job, trace, members } }: { known: Known }) {
  const [viewer, open] = useState<Viewer | undefined>();
  useEffect(() => {
    const source = new JoinedSource(members, trace.seconds, RATE_MIN);
    const made = new Viewer(job.id, source);
    made.aside.value = rowsOf(trace, source.rate);
    restore(made, query.peek(), []);
    open(made);
    return () => made.close();
  }, [job.id]);
  const title = `${job.name ?? job.id}, timeline`;
  if (!viewer) return <main class="page"><Head title={title} /></main>;
  const { word, tone } = verdictOf(job);
  return <Shown viewer={viewer} title={title} keepsAddress note={<><Badge tone={tone}>{word}</Badge><a href={`/jobs/${job.id}`}>The job</a></>} panels={<Captures trace={trace} viewer={viewer} />} />;
}

function rowsOf(trace: Trace, rate: number): readonly Row[] {
  const row = (id: string, name: string, all: readonly { from: number; to: number; text: string }[], kind: string): readonly Row[] => {
    if (all.length === 0) return [];
    const made = new Row(id, name);
    for (const { from, to, text } of all) made.annotations.add({ start: Math.round(from * rate), end: Math.max(Math.round(from * rate) + 1, Math.round(to * rate)), kind, text });
    return [made];
  };
  return trace.tracks.flatMap(({ id, name, steps, captures, lines }) => [
    ...row(`steps-${id}`, name, steps.map(({ name: text, from, to }) => ({ from, to, text })), "step"),
    ...row(`captures-${id}`, `${name} captures`, captures.map(({ name: text, from, to }) => ({ from, to, text })), "capture"),
    ...row(`lines-${id}`, name.replace(/ serial$/, " console"), lines.map(({ at, text }, i) => ({ from: at, to: Math.min(at + LINE_S, lines[i + 1]?.at ?? Infinity), text })), "line"),
  ]);
}

/** The captures, to be opened where they are seen here. */
function Captures({ trace, viewer }: { trace: Trace; viewer: Viewer }) {
  const captures = trace.tracks.flatMap((track) => track.captures);
  const { from, to } = viewer.view.value;
  const { rate } = viewer.source;
  const link = ({ id, from: begin, to: end }: Captured): string => {
    const [first, last] = [Math.max(0, from / rate - begin), Math.min(to / rate, end) - begin];
    return `/captures/${id}${last > first ? `?at=${first.toFixed(6)}&for=${(last - first).toFixed(6)}` : ""}`;
  };
  return (
    <section class="panel" aria-label="Captures">
      <h2>Captures</h2>
      {captures.length === 0 && <p class="small">The job captured nothing.</p>}
      <ol class="places">
        {captures.map((capture) => (
          <li key={capture.id}>
            <button type="button" onClick={() => viewer.look(zoom({ ...viewer.view.peek(), from: capture.from * rate, to: capture.to * rate }, 0.5, 1))}><span class="number">{instant(capture.from, 1e-3)}</span> {capture.name}, {duration(capture.to - capture.from)}</button>
            <a class="small" href={link(capture)}>Open</a>
          </li>
        ))}
      </ol>
      <p class="small">Steps and captures are placed by the server's clock: some milliseconds beside each other.</p>
    </section>
  );
}
