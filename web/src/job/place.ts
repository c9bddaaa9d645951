// Where in a capture a step of its job was: the part of an address that shows it.
import { type Trace, captureOf } from "../model/trace.ts";

/** Links name times in samples, and what a trace knows is seconds: a viewer that has `at` looks there once it knows the rate. */
export function placeOf(trace: Trace | undefined, capture: string, step: string): string {
  const found = trace && captureOf(trace, capture);
  const one = trace?.tracks.flatMap(({ steps }) => steps).find(({ name }) => name === step);
  if (!found || !one || one.to <= found.from || one.from >= found.to) return "";
  const [from, to] = [Math.max(0, one.from - found.from), Math.min(one.to, found.to) - found.from];
  return `?at=${from.toFixed(6)}&for=${(to - from).toFixed(6)}`;
}
