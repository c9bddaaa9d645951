// What the job that made a capture did at the same time, as rows above the waves.
import { useEffect } from "preact/hooks";
import { useResource } from "../api/resource.ts";
import { Check } from "../ui/field.tsx";
import { Loaded } from "../ui/states.tsx";
import { readTrace, rowsAside } from "./aside.ts";
import type { Viewer } from "./viewer.ts";

export function JobPanel({ viewer, job, step }: { viewer: Viewer; job: string; step: string | undefined }) {
  const trace = useResource(`trace ${job}`, (signal) => readTrace(job, signal));
  useEffect(() => {
    if (trace.data.value) viewer.aside.value = rowsAside(trace.data.value, viewer);
  }, [viewer, trace.data.value]);
  return (
    <section class="panel" aria-label="Job">
      <h2>Job</h2>
      <p class="small"><a href={`/jobs/${job}`}>The job</a> recorded this{step && <> in its step <b>{step}</b></>}. <a href={`/jobs/${job}/timeline`}>Its timeline</a></p>
      <Loaded resource={trace} rows={1}>
        {() => viewer.aside.value.length === 0
          ? <p class="small">It kept nothing else of this time.</p>
          : <><Check label="Steps, console and rails above the waves" on={viewer.showsAside.value} onChange={(on) => (viewer.showsAside.value = on)} /><p class="small">Their times are the server's: some milliseconds beside the samples.</p></>}
      </Loaded>
    </section>
  );
}
