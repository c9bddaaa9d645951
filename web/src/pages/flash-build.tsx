// Choosing a file of a build or of a job.
import { useGet } from "../api/resource.ts";
import type { BuildsArtifact } from "../api/schema.ts";
import { Empty, Loaded } from "../ui/states.tsx";
import { bytes } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";

export type Chosen = Pick<BuildsArtifact, "job_id" | "pack_id" | "name">;

export const idOf = ({ job_id, pack_id, name }: Chosen) => ({ job_id, pack_id, artifact_name: name });

const isSame = (a: Chosen | undefined, b: Chosen): boolean => a?.job_id === b.job_id && a.pack_id === b.pack_id && a.name === b.name;

export function BuildFile({ device, chosen, onChoose, suits = () => true }: { device: string; chosen: Chosen | undefined; onChoose: (one: Chosen) => void; suits?: (one: BuildsArtifact) => boolean }) {
  const files = useGet(`flashable ${device}`, "GET /bench/devices/{id}/flashable-artifacts", { path: { id: device }, query: { limit: 50 } }, 10_000);
  return (
    <Loaded resource={files} rows={3}>
      {({ artifacts }) => {
        const all = artifacts.filter(suits);
        if (all.length === 0) return <Empty icon="job" title="No builds yet"><p>Files of <a href="/jobs">jobs</a> and of builds that CI has reported appear here.</p></Empty>;
        return (
          <fieldset class="choices">
            <legend>File</legend>
            {all.map((one) => (
              <label key={`${one.job_id} ${one.pack_id} ${one.name}`} class="choice">
                <input type="radio" name="build-file" checked={isSame(chosen, one)} onChange={() => onChoose(one)} />
                <span><b>{one.name}</b><span class="small">{[one.repo, one.ref, one.commit && one.commit.slice(0, 10), one.pack_id === "external" ? "" : one.pack_id].filter(Boolean).join(" · ") || "no source named"}</span></span>
                <span class="small right">{bytes(one.size_bytes)}<br /><Ago iso={one.created_at} /></span>
              </label>
            ))}
          </fieldset>
        );
      }}
    </Loaded>
  );
}
