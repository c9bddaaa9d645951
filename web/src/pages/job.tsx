// A job: how it stands, its attempts on one axis, and what they wrote.
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { call, url } from "../api/client.ts";
import { refresh, useResource } from "../api/resource.ts";
import type { JobsAttempt, JobsJob } from "../api/schema.ts";
import { Artifacts } from "../job/artifacts.tsx";
import { Cases } from "../job/cases.tsx";
import { Measured } from "../job/measured.tsx";
import { Why } from "../job/why.tsx";
import { JobLogs } from "../joblog/follow.ts";
import { LogView } from "../joblog/view.tsx";
import { navigate, query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Head } from "../ui/head.tsx";
import { Icon } from "../ui/icon.tsx";
import { LineState } from "../ui/line-state.tsx";
import { Empty, Loaded, Trouble } from "../ui/states.tsx";
import { LinkTabs } from "../ui/tabs.tsx";
import { between, count, several } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";
import { OUTCOMES, verdictOf } from "./job-state.ts";

const isOver = (job: JobsJob | undefined): boolean => job?.state === "finished";

export default function JobPage({ id }: { id: string }) {
  const [over, end] = useState(false);
  const job = useResource(`job ${id}`, async (signal) => {
    const found = await call("GET /jobs/{id}", { path: { id } }, signal);
    end(isOver(found));
    return found;
  }, over ? 0 : 2000, true);
  const known = job.data.value;
  return (
    <main class="job">
      <Head title={known ? (known.name ?? known.id) : "Job"} note={known && <><Badge tone={verdictOf(known).tone}>{verdictOf(known).word}</Badge>{known.ref && <span>{known.ref}</span>}{known.commit && <span class="mono">{known.commit.slice(0, 10)}</span>}<span>{between(known.started_at, known.finished_at)}</span><Ago iso={known.created_at} /></>}>
        {known && <Actions job={known} onChanged={() => job.reload()} />}
      </Head>
      <Loaded resource={job} rows={10}>{(found) => <Shown job={found} />}</Loaded>
    </main>
  );
}

function Actions({ job, onChanged }: { job: JobsJob; onChanged: () => Promise<void> }) {
  const cancelling = useAction(async () => {
    await call("POST /jobs/{id}/cancel", { path: { id: job.id } });
    await onChanged();
  });
  const retrying = useAction(async () => {
    const made = await call("POST /jobs/{id}/retry", { path: { id: job.id } });
    refresh("jobs");
    navigate(`/jobs/${made.id}`);
  });
  const failure = cancelling.failure.value ?? retrying.failure.value;
  return (
    <>
      <Trouble failure={failure} />
      <a class="button" href={url("GET /jobs/{id}/report", { id: job.id })} target="_blank">Report</a>
      {isOver(job)
        ? <Button icon="play" label="Run again" action={retrying} />
        : <Button label="Cancel job" kind="danger" action={cancelling} disabled={job.state === "stopping"} />}
    </>
  );
}

function Shown({ job }: { job: JobsJob }) {
  const attempts = job.attempts ?? [];
  const asked = Number(query.value.get("attempt"));
  const chosen = attempts.find(({ number }) => number === asked) ?? firstToSee(attempts);
  return (
    <>
      {job.message && <p class="message">{job.message}</p>}
      {attempts.length > 0 && <Attempts job={job} attempts={attempts} chosen={chosen?.number} />}
      <Parts job={job} attempt={chosen} />
    </>
  );
}

/** What there is of a job besides its attempts; which one is seen is in the address. */
function Parts({ job, attempt }: { job: JobsJob; attempt: JobsAttempt | undefined }) {
  const view = query.value.get("view") ?? (attempt ? "log" : "why");
  const base = `/jobs/${job.id}`;
  const log = attempt && query.value.has("attempt") ? `${base}?attempt=${attempt.number}` : base;
  const tabs = [
    { to: log, name: "Log" },
    { to: `${base}/timeline`, name: "Timeline" },
    { to: `${base}?view=cases`, name: "Cases" },
    { to: `${base}?view=artifacts`, name: "Artifacts", ...(job.captures?.length ? { note: several(job.captures.length, "capture") } : {}) },
    { to: `${base}?view=measured`, name: "Measurements", ...(job.measurements?.length ? { note: count(job.measurements.length) } : {}) },
    { to: `${base}?view=why`, name: "Why" },
  ];
  const current = view === "log" ? log : `${base}?view=${view}`;
  return (
    <>
      <LinkTabs label="Job" tabs={tabs} current={current} />
      {view === "log" && (attempt ? <Written key={job.id} job={job} attempt={attempt} /> : <Empty icon="clock" title="Nothing has begun yet"><p>The log appears here as soon as a run begins.</p></Empty>)}
      {view === "cases" && <Cases job={job} />}
      {view === "artifacts" && <Artifacts job={job} />}
      {view === "measured" && <Measured job={job} />}
      {view === "why" && <Why job={job} />}
    </>
  );
}

/** What a person comes for: the first that failed, else what runs, else the last one. */
const firstToSee = (attempts: readonly JobsAttempt[]): JobsAttempt | undefined =>
  attempts.find(({ outcome }) => outcome === "failed" || outcome === "broken" || outcome === "timed_out") ?? attempts.find(({ outcome }) => outcome === "running") ?? attempts.at(-1);

function Attempts({ job, attempts, chosen }: { job: JobsJob; attempts: readonly JobsAttempt[]; chosen: number | undefined }) {
  const now = Date.now();
  const first = Math.min(...attempts.map(({ assigned_at }) => Date.parse(assigned_at ?? job.created_at)));
  const last = Math.max(first + 1000, ...attempts.map(({ ended_at }) => (ended_at ? Date.parse(ended_at) : now)));
  const at = (iso: string | null): number => ((iso ? Date.parse(iso) : last) - first) / (last - first);
  return (
    <ol class="runs" aria-label="Attempts">
      {attempts.map(({ number, run, outcome, started_at, ended_at, assigned_at, message }) => {
        const { icon, tone, word } = OUTCOMES[outcome];
        const begin = at(started_at ?? assigned_at);
        return (
          <li key={number} class={tone}>
            <button type="button" aria-pressed={number === chosen} title={message} onClick={() => setQuery({ attempt: String(number), view: undefined })}>
              <Icon name={icon} /><b>{run}</b><span class="hidden">{word}</span><span class="small">{between(started_at, ended_at)}</span>
              <svg class="span" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect x={begin * 100} y="0" width={Math.max(1, (at(ended_at) - begin) * 100)} height="4" /></svg>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function Written({ job, attempt }: { job: JobsJob; attempt: JobsAttempt }) {
  const [logs, open] = useState<JobLogs | undefined>();
  useEffect(() => {
    const made = new JobLogs(job.id);
    open(made);
    return () => made.close();
  }, [job.id]);
  const edition = logs?.edition.value ?? 0;
  const log = logs?.logs.get(attempt.number);
  const raw = <a class="button" href={url("GET /jobs/{id}/log", { id: job.id }, { attempt: attempt.number })} target="_blank">Raw</a>;
  if (!logs || !log) return <section class="log" aria-label="Log"><div class="bar">{logs && <LineState line={logs.socket.line.value} />}<span class="small grow">{attempt.log_bytes === 0 ? "Nothing was written yet." : "Reading the log…"}</span>{raw}</div></section>;
  return <LogView key={attempt.number} log={log} edition={edition} follow={!isOver(job)} state={<LineState line={logs.socket.line.value} />} more={raw} />;
}
