// What each run of a job waits for, device by device, or how it ended.
import { useGet } from "../api/resource.ts";
import type { JobsBlocked, JobsJob } from "../api/schema.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { useDevices } from "../pages/devices.tsx";

const OBSTACLES: Readonly<Record<JobsBlocked["obstacle"], { readonly word: string; readonly tone: Tone }>> = {
  misfit: { word: "does not fit", tone: "quiet" },
  quarantined: { word: "quarantined", tone: "bad" },
  offline: { word: "offline", tone: "warn" },
  busy: { word: "busy", tone: "info" },
  held: { word: "held", tone: "info" },
  free: { word: "free", tone: "ok" },
};

export function Why({ job }: { job: JobsJob }) {
  const why = useGet(`why ${job.id}`, "GET /jobs/{id}/why", { path: { id: job.id } }, job.state === "finished" ? 0 : 2000, true);
  const devices = useDevices();
  const nameOf = (id: string): string => devices.data.value?.devices.find((one) => one.id === id)?.name ?? id;
  const columns: readonly Column<JobsBlocked>[] = [
    { name: "Device", cell: ({ device }) => nameOf(device) },
    { name: "State", cell: ({ obstacle }) => <Badge tone={OBSTACLES[obstacle].tone}>{OBSTACLES[obstacle].word}</Badge> },
    { name: "Why", wide: true, cell: ({ detail }) => <span class="quiet">{detail ?? "–"}</span> },
    { name: "Until", cell: ({ until }) => (until ? new Date(until).toLocaleTimeString() : "–") },
  ];
  return (
    <section class="job-part" aria-label="Why">
      <Loaded resource={why} rows={4}>
        {({ job: { message }, runs }) => (
          <div class="stack">
            <p>{message}</p>
            {runs.map(({ run, ahead, message: said, devices: all }) => (
              <div key={run} class="stack">
                <h2>{run}</h2>
                <p>{said}{ahead !== null && ahead > 0 && ` ${ahead} before it.`}</p>
                {all.length > 0 && <Table label={`Devices for ${run}`} rows={all} columns={columns} keyOf={({ device }) => device} />}
              </div>
            ))}
          </div>
        )}
      </Loaded>
    </section>
  );
}
