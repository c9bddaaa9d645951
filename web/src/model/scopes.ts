// What keys may do, in words, and how long they live. Pure.

export const SCOPES = [
  { id: "bench:control", name: "Use benches", about: "Power, flash, console, captures, waveforms" },
  { id: "jobs:submit", name: "Submit jobs", about: "Also names secrets of the organisation in pipelines" },
  { id: "emi:analyze", name: "Analyse boards", about: "Send boards and read what was found" },
  { id: "bench:admin", name: "Administer", about: "Users, keys, plugins, secrets, webhooks, updates of pods" },
] as const;
export type Scope = (typeof SCOPES)[number]["id"];

export const nameOfScope = (id: string): string => SCOPES.find((one) => one.id === id)?.name ?? id;

const DAY = 86_400;
export const LIVES = [
  { value: String(30 * DAY), name: "30 days" },
  { value: String(90 * DAY), name: "90 days" },
  { value: String(365 * DAY), name: "1 year" },
  { value: "", name: "No end" },
] as const;

export type Standing = "good" | "soon" | "over";

/** So long before its end a key is worth a warning. */
const SOON_MS = 14 * DAY * 1000;

export function standing(expires: string | null, now: number): Standing {
  if (expires === null) return "good";
  const left = Date.parse(expires) - now;
  return left <= 0 ? "over" : left < SOON_MS ? "soon" : "good";
}

/** `in 3 days`, `ended 2 h ago`, `never`. */
export function ending(expires: string | null, now: number, rough: (seconds: number) => string): string {
  if (expires === null) return "never";
  const seconds = (Date.parse(expires) - now) / 1000;
  return seconds > 0 ? `in ${rough(seconds)}` : `${rough(-seconds)} ago`;
}
