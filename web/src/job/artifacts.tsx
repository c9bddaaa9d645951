// What runs of a job made, to be kept: files and captures.
import { url } from "../api/client.ts";
import { useGet } from "../api/resource.ts";
import type { JobsArtifact, JobsJob, JobsJobCapture } from "../api/schema.ts";
import { Icon } from "../ui/icon.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { bytes } from "../ui/time.ts";
import { CopyButton } from "../ui/copy.tsx";

export function Artifacts({ job }: { job: JobsJob }) {
  const artifacts = useGet(`artifacts ${job.id} ${job.finished_at}`, "GET /jobs/{id}/artifacts", { path: { id: job.id } }, job.state === "finished" ? 0 : 5000, true);
  const captures = job.captures ?? [];
  const file = ({ run, name }: JobsArtifact): string => url("GET /jobs/{id}/artifacts/{run}/{name}", { id: job.id, run, name });
  const columns: readonly Column<JobsArtifact>[] = [
    { name: "File", cell: (one) => <a href={file(one)} download>{one.name}</a> },
    { name: "Run", cell: ({ run }) => run },
    { name: "Size", right: true, cell: ({ size_bytes }) => <span class="number">{bytes(size_bytes)}</span> },
    { name: "SHA-256", wideScreensOnly: true, cell: ({ sha256 }) => <span class="mono">{sha256.slice(0, 16)}… <CopyButton what="SHA-256" text={sha256} /></span> },
  ];
  const captureColumns: readonly Column<JobsJobCapture>[] = [
    { name: "Capture", cell: ({ id, name }) => <a href={`/captures/${id}`}>{name.replace(`${job.id} `, "")}</a> },
    { name: "Step", cell: ({ run, step, attempt }) => `${run}${attempt > 1 ? `, attempt ${attempt}` : ""}${step ? `: ${step}` : ""}` },
    { name: "File", right: true, cell: ({ id, file: name, is_done }) => (is_done ? <a class="button" href={url("GET /jobs/{id}/captures/{capture}", { id: job.id, capture: id })} download={name}><Icon name="save" />{name}</a> : "not done yet") },
  ];
  return (
    <section class="job-part" aria-label="Artifacts">
      <Loaded resource={artifacts} rows={4}>
        {({ artifacts: all }) => (all.length + captures.length === 0
          ? <Empty icon="job" title="Nothing was kept"><p>Packs of a build name the files that are kept, and benches keep what they capture and decode.</p></Empty>
          : (
            <>
              {all.length > 0 && <Table label="Files" rows={all} columns={columns} keyOf={({ run, name }) => `${run}/${name}`} />}
              {captures.length > 0 && <><h2>Captures</h2><Table label="Captures" rows={captures} columns={captureColumns} keyOf={({ id }) => id} /></>}
            </>
          ))}
      </Loaded>
    </section>
  );
}
