// What a capture begins with: what a person filled in, and what the API takes; docs/captures.md has the table. Pure.
import type { Given } from "../api/client.ts";

type Body = Given<"POST /la/captures/start">["body"];
export type Trigger = NonNullable<Body["trigger"]>;
type Channel = NonNullable<Body["channels"]>[number];
export type Level = "high" | "low";

/** Kinds of conditions, in the order in which they are offered. `needs` is the capability of a device that can do it. */
export const CONDITIONS = [
  { value: "", name: "At once" },
  { value: "rising", name: "At a rising edge" },
  { value: "falling", name: "At a falling edge" },
  { value: "high", name: "When a lane is high" },
  { value: "low", name: "When a lane is low" },
  { value: "pulse", name: "At a pulse, by its length", needs: "trigger_pulse" },
  { value: "level", name: "When a level was held for a time", needs: "trigger_level" },
  { value: "pattern", name: "When several lanes have their levels", needs: "trigger_pattern" },
  { value: "i2c", name: "At an I²C address", needs: "capture_stream" },
  { value: "uart", name: "At bytes on a UART", needs: "capture_stream" },
] as const;
export type Condition = (typeof CONDITIONS)[number]["value"];

/** What decoders look for needs samples of the logic lanes alone. */
export const isProtocol = (condition: Condition): boolean => condition === "i2c" || condition === "uart";

/** As it is typed; lanes are numbers from 1. */
export interface Draft {
  readonly condition: Condition;
  readonly lane: string;
  readonly level: Level;
  /** Of pulses. */
  readonly than: "shorter" | "longer";
  /** `10 us`. */
  readonly time: string;
  readonly pattern: Readonly<Record<number, Level>>;
  readonly scl: string;
  readonly sda: string;
  readonly address: string;
  readonly direction: "" | "read" | "write";
  readonly rx: string;
  readonly bytes: string;
  readonly baud: string;
  readonly parity: "none" | "odd" | "even";
  /** Seconds. */
  readonly timeout: string;
}

export const DRAFT: Draft = {
  condition: "", lane: "1", level: "high", than: "shorter", time: "10 us", pattern: {}, scl: "2", sda: "1",
  address: "0x76", direction: "", rx: "1", bytes: "", baud: "115200", parity: "none", timeout: "30",
};

const UNITS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9 };

/** Nanoseconds of `10 us`, `1.5 ms`; undefined when it is no time. */
export function nanoseconds(text: string): number | undefined {
  const [, number, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([nmuµμ]?s)\s*$/.exec(text) ?? [];
  const ns = Math.round(Number(number) * (UNITS[unit] ?? NaN));
  return ns >= 1 ? ns : undefined;
}

/** `55aa??` as `55 AA ??`; undefined when it is none. */
export function byteSequence(text: string): string | undefined {
  const pairs = text.replace(/0x|[\s,]+/gi, "");
  return /^(?:[0-9a-f]{2}|\?\?)+$/i.test(pairs) ? pairs.toUpperCase().match(/../g)!.join(" ") : undefined;
}

/** `0x76` of `76` or `0x76`: seven bits, as data sheets and programs have them. */
export function busAddress(text: string): string | undefined {
  const [, digits] = /^\s*(?:0x)?([0-9a-f]{1,2})\s*$/i.exec(text) ?? [];
  const value = digits === undefined ? NaN : Number.parseInt(digits, 16);
  return value <= 0x7f ? `0x${value.toString(16).padStart(2, "0")}` : undefined;
}

/** What is not yet as it has to be, by the members of the draft. */
export function faults(draft: Draft): Partial<Record<keyof Draft, string>> {
  const { condition } = draft;
  const wrong: Partial<Record<keyof Draft, string>> = {};
  if ((condition === "pulse" || condition === "level") && nanoseconds(draft.time) === undefined) wrong.time = "A time with its unit, such as 500 ns, 10 us or 2 ms.";
  if (condition === "pattern" && Object.keys(draft.pattern).length === 0) wrong.pattern = "Choose the level of one lane at least.";
  if (condition === "i2c" && busAddress(draft.address) === undefined) wrong.address = "Seven bits in hexadecimal, 00 to 7F, without the direction.";
  if (condition === "uart" && byteSequence(draft.bytes) === undefined) wrong.bytes = "Hexadecimal bytes, such as 55 AA ?? 01; ?? is any byte.";
  if (condition !== "" && !(Number(draft.timeout) > 0 && Number(draft.timeout) <= 600)) wrong.timeout = "More than 0, and 600 at most.";
  return wrong;
}

const named = (lane: number | string): Channel => `LA${lane}` as Channel;

/** What the API takes; undefined to begin at once. A capture of a bus knows its own lines. */
export function triggerOf(draft: Draft, isBus: boolean): Trigger | undefined {
  const { condition, level } = draft;
  const channel = named(draft.lane);
  const ns = nanoseconds(draft.time) ?? 1;
  const timeout_ms = Math.round(Number(draft.timeout) * 1000);
  switch (condition) {
    case "":
      return undefined;
    case "pulse":
      return { pulse: { channel, level, ...(draft.than === "shorter" ? { shorter_than_ns: ns } : { longer_than_ns: ns }) }, timeout_ms };
    case "level":
      return { level: { channel, level, for_ns: ns }, timeout_ms };
    case "pattern":
      return { pattern: Object.entries(draft.pattern).map(([lane, wanted]) => ({ channel: named(lane), level: wanted })), timeout_ms };
    case "i2c":
      return { protocol: "i2c", ...(isBus ? {} : { scl: named(draft.scl), sda: named(draft.sda) }), address: busAddress(draft.address) ?? draft.address, ...(draft.direction ? { direction: draft.direction } : {}), timeout_ms };
    case "uart":
      return { protocol: "uart", rx: named(draft.rx), bytes: byteSequence(draft.bytes) ?? draft.bytes, baudrate: Number(draft.baud), ...(draft.parity === "none" ? {} : { parity: draft.parity }), timeout_ms };
    default:
      return { channel, edge: condition, timeout_ms };
  }
}
