// What rails gave in the last hour, as lines of a drawing and in a sentence. Pure.
import { roundValues } from "./trend.ts";

export const HOUR_MS = 3_600_000;
/** A rail below this is off. */
const OFF_MV = 500;
/** So many readings may be missing in a line. */
const MISSING = 3;

/** Columns of equal length, oldest first. */
export interface Readings {
  readonly at: readonly number[];
  readonly mv: readonly number[];
  readonly ua: readonly number[];
}

export const NOTHING: Readings = { at: [], mv: [], ua: [] };

/** What is known and what has come since; what is older than an hour goes. */
export function appended(known: Readings, more: Readings): Readings {
  const last = known.at.at(-1) ?? -Infinity;
  const news = more.at.findIndex((at) => at > last);
  if (news < 0) return known;
  const from = more.at.at(-1)! - HOUR_MS;
  const kept = known.at.findIndex((at) => at >= from);
  const join = (old: readonly number[], now: readonly number[]): readonly number[] => [...(kept < 0 ? [] : old.slice(kept)), ...now.slice(news)];
  return { at: join(known.at, more.at), mv: join(known.mv, more.mv), ua: join(known.ua, more.ua) };
}

export interface Summary {
  readonly isOn: boolean;
  /** Of the readings with power; undefined if there are none. */
  readonly on: { readonly lowMv: number; readonly highMv: number; readonly meanUa: number; readonly mostUa: number } | undefined;
}

export function summary({ at, mv, ua }: Readings): Summary {
  const on = at.flatMap((_, i) => (mv[i]! >= OFF_MV ? [i] : []));
  const volts = on.map((i) => mv[i]!);
  const amps = on.map((i) => ua[i]!);
  return {
    isOn: (mv.at(-1) ?? 0) >= OFF_MV,
    on: on.length === 0 ? undefined : { lowMv: Math.min(...volts), highMv: Math.max(...volts), meanUa: amps.reduce((sum, one) => sum + one, 0) / on.length, mostUa: Math.max(...amps) },
  };
}

export interface Line {
  /** The `d` of a path: each stretch without a gap. */
  readonly path: string;
  readonly marks: readonly { readonly y: number; readonly value: number }[];
  readonly y: (value: number) => number;
}

/** Values between `from` and `to`, zero included, so that heights can be compared. */
export function line(at: readonly number[], values: readonly number[], { from, to, width, height, intervalMs }: { readonly from: number; readonly to: number; readonly width: number; readonly height: number; readonly intervalMs: number }): Line {
  const least = Math.min(0, ...values);
  const most = Math.max(0, least + 1e-3, ...values) * 1.08;
  const y = (value: number): number => height - ((value - least) / (most - least)) * height;
  const x = (time: number): number => ((time - from) / (to - from)) * width;
  let path = "";
  at.forEach((time, i) => {
    if (time < from) return;
    const begins = i === 0 || at[i - 1]! < from || time - at[i - 1]! > MISSING * intervalMs;
    // A single reading would be a line without length.
    path += begins ? `M${x(time).toFixed(1)} ${y(values[i]!).toFixed(1)}h.5` : `L${x(time).toFixed(1)} ${y(values[i]!).toFixed(1)}`;
  });
  const marks = roundValues(least, most);
  return { path, y, marks: marks.filter((_, i) => marks.length < 4 || i % 2 === 0).map((value) => ({ y: y(value), value })) };
}

/** Round times of the day between two moments, `everyMs` apart; `offsetMs` is how far the local clock is ahead of UTC. */
export function times(from: number, to: number, everyMs: number, offsetMs: number): readonly number[] {
  const first = Math.ceil((from + offsetMs) / everyMs) * everyMs - offsetMs;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / everyMs) + 1) }, (_, i) => first + i * everyMs);
}

/** The reading that is nearest to a moment. */
export function nearest(at: readonly number[], moment: number): number {
  let [low, high] = [0, at.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (at[middle]! <= moment) low = middle;
    else high = middle;
  }
  return moment - at[low]! <= at[high]! - moment ? low : high;
}
