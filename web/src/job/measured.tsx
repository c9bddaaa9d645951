// What the steps of a job measured, with the limits.
import type { JobsJob, JobsMeasurement } from "../api/schema.ts";
import { Badge } from "../ui/badge.tsx";
import { Empty } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { limits, quantity } from "../model/quantity.ts";

const COLUMNS: readonly Column<JobsMeasurement>[] = [
  { name: "Measurement", cell: ({ name, step, run }) => <><a href={`/measurements?name=${encodeURIComponent(name)}`}>{name}</a><span class="small">{run}: {step}</span></> },
  { name: "Value", right: true, cell: ({ value, unit }) => <b class="number">{quantity(value, unit)}</b> },
  { name: "Limits", right: true, cell: ({ low, high, unit }) => <span class="number">{limits(low, high, unit)}</span> },
  { name: "Verdict", cell: ({ is_within }) => <Badge tone={is_within ? "ok" : "bad"}>{is_within ? "within" : "outside"}</Badge> },
];

export function Measured({ job }: { job: JobsJob }) {
  const all = [...(job.measurements ?? [])].sort((a, b) => Number(a.is_within) - Number(b.is_within));
  return (
    <section class="job-part" aria-label="Measurements">
      {all.length === 0
        ? <Empty icon="capture" title="Nothing was measured"><p>A step <code>measure</code> records a value of a capture with its limits.</p></Empty>
        : <Table label="Measurements" rows={all} columns={COLUMNS} keyOf={({ name, run, attempt, step }) => `${run} ${attempt} ${step} ${name}`} />}
    </section>
  );
}
