// What a job knows of the time of one of its captures: steps, the serial line, rails. They are rows above the waves, on the same axis.
import { call } from "../api/client.ts";
import { type Trace, captureOf, parseTrace } from "../model/trace.ts";
import { Row } from "./decoders.ts";
import type { Viewer } from "./viewer.ts";

/** A line of text is shown for so long, or up to the next one. */
const LINE_S = 0.2;

export async function readTrace(job: string, signal?: AbortSignal): Promise<Trace> {
  return parseTrace(await call("GET /jobs/{id}/trace.json", { path: { id: job } }, signal));
}

/** Rows for a capture that a trace names. */
export function rowsAside(trace: Trace, viewer: Viewer): readonly Row[] {
  const capture = captureOf(trace, viewer.capture);
  if (!capture) return [];
  const { rate, samples } = viewer.source;
  const rows: Row[] = [];
  const add = (id: string, name: string, all: readonly { from: number; to: number; kind: string; text: string }[]): void => {
    const row = new Row(id, name);
    for (const { from, to, kind, text } of all) {
      const [start, end] = [from, to].map((seconds) => Math.round((seconds - capture.from) * rate)) as [number, number];
      if (end > 0 && start < samples) row.annotations.add({ start: Math.max(0, start), end: Math.min(samples, Math.max(start + 1, end)), kind, text });
    }
    if (row.annotations.length > 0) rows.push(row);
  };
  for (const { id, name, steps, lines } of trace.tracks) {
    add(`steps-${id}`, `Steps ${name}`, steps.map(({ name: text, from, to }) => ({ from, to, kind: "step", text })));
    add(`lines-${id}`, name.replace(/ serial$/, " console"), lines.map(({ at, text }, i) => ({ from: at, to: Math.min(at + LINE_S, lines[i + 1]?.at ?? Infinity), kind: "line", text })));
  }
  for (const { name, points } of trace.rails)
    add(`rail-${name}`, name, points.map(({ at, volts, milliamperes }, i) => ({ from: at, to: points[i + 1]?.at ?? trace.seconds, kind: "rail", text: `${volts.toFixed(2)} V, ${milliamperes.toFixed(1)} mA` })));
  return rows;
}
