// How a test case went in the last jobs, and whose fault it seems to be. Pure.

export type Went = "passed" | "failed" | "broken" | "skipped";

export interface CaseRuns {
  /** The newest first. */
  readonly runs: readonly { readonly outcome: Went; readonly job: string; readonly device: string | null }[];
  readonly passed: number;
  readonly failed: number;
  readonly broken: number;
  readonly flaky_rate: number | null;
  readonly first_bad: { readonly job: string } | null;
  readonly devices: readonly { readonly device: string; readonly name: string | null; readonly passed: number; readonly failed: number }[];
}

export interface Judgement {
  readonly word: "Fails" | "Wavers" | "Passes" | "Bench problem" | "Not run";
  readonly tone: "ok" | "warn" | "bad" | "quiet";
  /** What it means, and what to look at. */
  readonly text: string;
}

type Device = CaseRuns["devices"][number];

const named = (devices: readonly Device[]): string => devices.map(({ name, device }) => name ?? `removed device ${device.slice(-6)}`).join(", ");

export function judgement(one: CaseRuns): Judgement {
  const { passed, failed, broken, flaky_rate, first_bad, devices } = one;
  if (passed + failed === 0) return broken > 0 ? { word: "Bench problem", tone: "warn", text: "Each time something of the bench broke, so nothing is known of the firmware." } : { word: "Not run", tone: "quiet", text: "" };
  const wavers = (flaky_rate ?? 0) > 0;
  if (failed === 0) return { word: "Passes", tone: "ok", text: broken > 0 ? "What broke was the bench, not the firmware." : "" };
  if (!first_bad && !wavers) return { word: "Passes", tone: "ok", text: "It failed earlier, and no longer does." };
  return { ...(first_bad ? { word: "Fails", tone: "bad" } : { word: "Wavers", tone: "warn" }), text: fault(one, devices) };
}

function fault({ runs, first_bad }: CaseRuns, devices: readonly Device[]): string {
  const always = devices.filter(({ passed, failed }) => failed > 0 && passed === 0);
  const never = devices.filter(({ passed, failed }) => failed === 0 && passed > 0);
  if (always.length > 0 && never.length > 0 && always.length + never.length === devices.filter(({ passed, failed }) => passed + failed > 0).length)
    return `It fails on ${named(always)} and passes on ${named(never)}: look at the first, its wiring and its board.`;
  if (!first_bad) return "The same commit both passed and failed: look at timing, power and the order of tests.";
  // All that were judged since then have failed.
  const since = runs.slice(0, runs.findIndex(({ job }) => job === first_bad.job) + 1).filter(({ outcome }) => outcome === "failed");
  const hit = devices.filter(({ device }) => since.some((run) => run.device === device));
  if (hit.length === 0) return "No device takes part: look at the change since then.";
  if (hit.length > 1) return `It fails on ${named(hit)}: look at the firmware, or at the test.`;
  const before = devices.filter((one) => !hit.includes(one) && one.passed > 0);
  return before.length > 0
    ? `Since then it ran on ${named(hit)} alone; it passed on ${named(before)} before. Run it there to tell firmware from bench.`
    : `It ran on ${named(hit)} alone. Run it on another device to tell firmware from bench.`;
}
