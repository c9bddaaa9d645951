// Values with their units, as people read them. Pure.
import { duration, frequency, trimmed } from "./axis.ts";

const SCALES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]] as const;

/** `5 µs`, `3.3 V`, `50 %`: units that are not known stay as they are. */
export function quantity(value: number, unit: string): string {
  const sign = value < 0 ? "−" : "";
  const size = Math.abs(value);
  if (unit === "s") return sign + duration(size);
  if (unit === "Hz") return sign + frequency(size);
  if (unit !== "V" && unit !== "A" && unit !== "W") return `${sign}${digits(size)} ${unit}`.trim();
  const [scale, prefix] = SCALES.find(([one]) => size >= one * 0.9999999) ?? [1, ""];
  return `${sign}${digits(size / scale)} ${prefix}${unit}`;
}

const digits = (size: number): string => (size !== 0 && (size < 1e-3 || size >= 1e6) ? size.toExponential(3) : trimmed(size.toPrecision(4)));

/** `4 µs to 6 µs`, `at least 4 µs`. */
export function limits(low: number | undefined, high: number | undefined, unit: string): string {
  if (low === undefined) return high === undefined ? "none" : `at most ${quantity(high, unit)}`;
  return high === undefined ? `at least ${quantity(low, unit)}` : `${quantity(low, unit)} to ${quantity(high, unit)}`;
}
