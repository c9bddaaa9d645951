// What can be said of a signal at one place of the screen: the pulse there, and the period it belongs to. Pure.
import { duration, frequency } from "./axis.ts";
import { HIGH, LOW } from "./tiles.ts";

export interface Pulse {
  readonly from: number;
  readonly to: number;
  /** Where the next pulse of the other level ends, as far as the screen shows it: a period later than `from`. */
  readonly period: number | undefined;
  readonly isHigh: boolean;
}

/** The pulse under a column: where its level began and ends, as far as the screen shows it. */
export function pulseAt(columns: Uint8Array, column: number): Pulse | undefined {
  const level = columns[column];
  if (level !== LOW && level !== HIGH) return undefined;
  let from = column;
  while (from > 0 && columns[from - 1] === level) from--;
  const to = endOf(columns, column, level);
  // Behind the edge of the screen, or in a gap, it may go on.
  if (!columns[from - 1] || !columns[to]) return undefined;
  // A column with an edge in it may lie between two pulses.
  const next = columns[to] === (LOW | HIGH) ? to + 1 : to;
  const other = level === HIGH ? LOW : HIGH;
  const end = columns[next] === other ? endOf(columns, next, other) : columns.length;
  return { from, to, period: columns[end] ? end : undefined, isHigh: level === HIGH };
}

function endOf(columns: Uint8Array, column: number, level: number): number {
  let to = column;
  while (to < columns.length && columns[to] === level) to++;
  return to;
}

/** `12 µs high, period 20 µs, 50 kHz, 60 %`; lengths in seconds. */
export function pulseText(width: number, period: number | undefined, isHigh: boolean, isExact: boolean): string {
  const about = isExact ? "" : "≈ ";
  const first = `${about}${duration(width)} ${isHigh ? "high" : "low"}`;
  if (period === undefined || period <= 0) return first;
  const duty = (isHigh ? width : period - width) / period;
  return `${first} · period ${duration(period)} · ${frequency(1 / period)} · ${(duty * 100).toFixed(0)} %`;
}
