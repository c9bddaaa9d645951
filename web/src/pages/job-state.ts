// How a job and its runs stand, in a word.
import type { JobsAttempt, JobsJob } from "../api/schema.ts";
import type { Tone } from "../ui/badge.tsx";
import type { IconName } from "../ui/icon.tsx";

/** Whose turn it is comes before how far it is. */
export function verdictOf(job: JobsJob): { readonly word: string; readonly tone: Tone } {
  if (job.state === "queued") return { word: "Queued", tone: "quiet" };
  if (job.state === "stopping") return { word: "Stopping", tone: "info" };
  if (job.state !== "finished") return { word: "Running", tone: "info" };
  if (job.verdict === "success") return { word: "Passed", tone: "ok" };
  if (job.verdict === "failure") return { word: "Failed", tone: "bad" };
  if (job.ended_because === "cancelled") return { word: "Cancelled", tone: "quiet" };
  return job.ended_because === "definition_error" ? { word: "Pipeline wrong", tone: "bad" } : { word: "Bench problem", tone: "warn" };
}

/** How an attempt stands. */
export const OUTCOMES: Readonly<Record<JobsAttempt["outcome"] | "none", { readonly word: string; readonly icon: IconName; readonly tone: Tone }>> = {
  waiting: { word: "waiting", icon: "clock", tone: "quiet" },
  running: { word: "running", icon: "clock", tone: "info" },
  passed: { word: "passed", icon: "check", tone: "ok" },
  failed: { word: "failed", icon: "cross", tone: "bad" },
  broken: { word: "broken", icon: "warning", tone: "warn" },
  cancelled: { word: "cancelled", icon: "minus", tone: "quiet" },
  timed_out: { word: "timed out", icon: "clock", tone: "bad" },
  skipped: { word: "skipped", icon: "minus", tone: "quiet" },
  none: { word: "", icon: "right", tone: "quiet" },
};
