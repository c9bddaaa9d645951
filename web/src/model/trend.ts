// Values over time as points of a drawing, with their limits. Pure.

export interface Value {
  readonly at: number;
  readonly value: number;
  readonly low: number | undefined;
  readonly high: number | undefined;
}

export interface Drawing<T> {
  readonly points: readonly { readonly x: number; readonly y: number; readonly of: T }[];
  readonly low: readonly Step[];
  readonly high: readonly Step[];
  /** Round values with their heights. */
  readonly marks: readonly { readonly y: number; readonly value: number }[];
}

/** A limit that holds from `x` to `to`. */
export interface Step {
  readonly x: number;
  readonly to: number;
  readonly y: number;
}

/** Values in their order, each as wide as the next: jobs of a night and of a week later are as easy to see. */
export function drawing<T extends Value>(values: readonly T[], width: number, height: number): Drawing<T> {
  const sorted = values.toSorted((a, b) => a.at - b.at);
  const all = sorted.flatMap(({ value, low, high }) => [value, ...(low === undefined ? [] : [low]), ...(high === undefined ? [] : [high])]);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const room = (most - least || Math.abs(most) || 1) * 0.08;
  const [bottom, top] = [least - room, most + room];
  const y = (value: number): number => height - ((value - bottom) / (top - bottom)) * height;
  const wide = width / Math.max(1, sorted.length);
  const steps = (limit: "low" | "high"): readonly Step[] => {
    const found: { x: number; to: number; y: number }[] = [];
    sorted.forEach((one, i) => {
      const value = one[limit];
      if (value === undefined) return;
      const last = found.at(-1);
      if (last && last.y === y(value) && last.to === i * wide) last.to = (i + 1) * wide;
      else found.push({ x: i * wide, to: (i + 1) * wide, y: y(value) });
    });
    return found;
  };
  return {
    points: sorted.map((of, i) => ({ x: (i + 0.5) * wide, y: y(of.value), of })),
    low: steps("low"),
    high: steps("high"),
    marks: roundValues(bottom, top).map((value) => ({ y: y(value), value })),
  };
}

/** Three to six round values between two others. */
export function roundValues(bottom: number, top: number): readonly number[] {
  const raw = (top - bottom) / 4;
  if (!(raw > 0)) return [];
  const base = 10 ** Math.floor(Math.log10(raw));
  const step = base * ([1, 2, 5].find((factor) => base * factor >= raw) ?? 10);
  const first = Math.ceil(bottom / step);
  return Array.from({ length: Math.max(0, Math.floor(top / step) - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}
