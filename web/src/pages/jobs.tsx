// The jobs of the organisation, newest first.
import { call } from "../api/client.ts";
import { usePages } from "../api/pages.ts";
import type { JobsJob } from "../api/schema.ts";
import { query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Copyable } from "../ui/copy.tsx";
import { Head } from "../ui/head.tsx";
import { Icon } from "../ui/icon.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, More, Table } from "../ui/table.tsx";
import { Ago, Took } from "../ui/when.tsx";
import { verdictOf } from "./job-state.ts";

const COLUMNS: readonly Column<JobsJob>[] = [
  { name: "Job", cell: ({ id, name, commit }) => <><a href={`/jobs/${id}`}>{name ?? id}</a>{commit && <span class="small mono">{commit.slice(0, 10)}</span>}</> },
  { name: "State", cell: (job) => <Badge tone={verdictOf(job).tone}>{verdictOf(job).word}</Badge> },
  { name: "Ref", cell: ({ ref }) => ref ?? "–" },
  { name: "What happened", wide: true, cell: ({ message }) => <span class="quiet">{message}</span> },
  { name: "Took", right: true, cell: ({ started_at, finished_at }) => <span class="number"><Took from={started_at} to={finished_at} /></span> },
  { name: "Submitted", right: true, cell: ({ created_at }) => <Ago iso={created_at} /> },
];

const STATES = ["queued", "assigned", "running", "stopping", "finished"] as const;

export default function JobsPage() {
  const state = STATES.find((one) => one === query.value.get("state"));
  const jobs = usePages(`jobs ${state}`, async (cursor, signal) => {
    const { jobs: rows, next_cursor: next } = await call("GET /jobs", { query: { state, cursor } }, signal);
    return { rows, next };
  }, 3000);
  return (
    <main class="page">
      <Head title="Jobs">
        <label class="inline">State <select value={state ?? ""} onChange={(event) => setQuery({ state: event.currentTarget.value })}><option value="">Any</option>{STATES.map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
        <Filter label="Filter jobs" />
        <a class="button" href="/jobs/cases">Test cases</a>
        <a class="button" href="/measurements">Measurements</a>
        <a class="button main" href="/jobs/submit"><Icon name="plus" />Submit a pipeline</a>
      </Head>
      <Loaded resource={jobs.first} rows={5}>
        {() => {
          const shown = jobs.rows.filter(({ name, ref, id, commit, message }) => passes(`${name} ${ref} ${id} ${commit} ${message}`));
          if (jobs.rows.length === 0) return <Empty icon="job" title={state ? `No jobs are ${state}` : "No jobs yet"}><p>Submit a pipeline from your sources:</p><Copyable label="Command" text="hostd submit pipeline.yml --wait" /></Empty>;
          return (
            <>
              {shown.length > 0 ? <Table label="Jobs" rows={shown} columns={COLUMNS} keyOf={({ id }) => id} /> : <p class="quiet">None of them fits the filter.</p>}
              <More pages={jobs} />
            </>
          );
        }}
      </Loaded>
    </main>
  );
}
