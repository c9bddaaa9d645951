// The test cases of a job: what failed first, why, and where to look.
import { request, url } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { JobsJob } from "../api/schema.ts";
import { type Case, parseJunit } from "../model/junit.ts";
import type { Trace } from "../model/trace.ts";
import { addressOfHistory } from "../pages/case-history.tsx";
import { query, setQuery } from "../router.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Icon } from "../ui/icon.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { several } from "../ui/time.ts";
import { duration } from "../model/axis.ts";
import { readTrace } from "../viewer/aside.ts";
import { placeOf } from "./place.ts";

/** Cases on the page; the file has all of them. */
const SHOWN_MAX = 500;

const OUTCOMES: Readonly<Record<Case["outcome"], { readonly word: string; readonly tone: Tone; readonly rank: number }>> = {
  failed: { word: "failed", tone: "bad", rank: 0 },
  error: { word: "bench problem", tone: "warn", rank: 1 },
  skipped: { word: "not run", tone: "quiet", rank: 2 },
  passed: { word: "passed", tone: "ok", rank: 3 },
};

export function Cases({ job }: { job: JobsJob }) {
  // Where in its capture a case was; cases are shown without it, too.
  const trace = useResource(`trace ${job.id} ${job.finished_at}`, (signal) => (job.state === "finished" ? readTrace(job.id, signal) : Promise.resolve(undefined))).data.value;
  const cases = useResource(`cases ${job.id} ${job.finished_at}`, async (signal) => (job.state === "finished" ? parseJunit(await (await request(url("GET /jobs/{id}/junit.xml", { id: job.id }), { signal })).text()) : []));
  const only = query.value.get("only");
  return (
    <section class="job-part" aria-label="Cases">
      <Loaded resource={cases} rows={5}>
        {(all) => {
          if (all.length === 0) return <Empty icon="check" title="No cases"><p>Steps with a <code>case</code>, and JUnit files that programs write, become cases.</p></Empty>;
          const shown = all.filter((one) => (only === null || one.outcome === only) && passes(`${one.run} ${one.group} ${one.name} ${one.message}`)).sort((a, b) => OUTCOMES[a.outcome].rank - OUTCOMES[b.outcome].rank);
          return (
            <>
              <div class="bar-above">
                <label class="inline">Outcome <select value={only ?? ""} onChange={(event) => setQuery({ only: event.currentTarget.value })}><option value="">Any</option>{Object.entries(OUTCOMES).map(([id, { word }]) => <option key={id} value={id}>{word}</option>)}</select></label>
                <Filter label="Filter cases" />
                <span class="small grow">{several(all.length, "case")}</span>
                <a class="button" href={addressOfHistory({ name: job.name })}>In the last jobs</a>
                <a class="button" href={url("GET /jobs/{id}/junit.xml", { id: job.id })} download={`${job.id}.xml`}><Icon name="save" />JUnit</a>
              </div>
              {shown.length > 0 ? <Table label="Cases" rows={shown.slice(0, SHOWN_MAX)} columns={columns(job, trace)} keyOf={(one) => `${one.run} ${one.group} ${one.name} ${all.indexOf(one)}`} /> : <p class="quiet">None of them fits.</p>}
              {shown.length > SHOWN_MAX && <p class="small">The first {SHOWN_MAX} of {several(shown.length, "case")}. The JUnit file has all.</p>}
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

const columns = (job: JobsJob, trace: Trace | undefined): readonly Column<Case>[] => [
  { name: "Case", cell: ({ name, group, run }) => <><a href={addressOfHistory({ name: job.name, text: name.slice(0, 200), case: `${run}/${name.slice(0, 200)}` })} title="How it went in the last jobs">{name}</a><span class="small">{group && group !== run ? `${run} · ${group}` : run}</span></> },
  { name: "Outcome", cell: ({ outcome }) => <Badge tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].word}</Badge> },
  { name: "What happened", wide: true, cell: (one) => <What one={one} /> },
  { name: "Capture", cell: (one) => <Where one={one} trace={trace} /> },
  { name: "Took", right: true, cell: ({ seconds }) => <span class="number">{seconds > 0 ? duration(seconds) : "–"}</span> },
];

/** A line, and the rest of it where there is more. */
function What({ one: { message, detail, output } }: { one: Case }) {
  const more = [detail === message ? "" : detail, output].filter(Boolean).join("\n\n");
  if (more === "" || /^hostd\.\S+: .*$/.test(more)) return <span class="quiet">{message}</span>;
  return <details class="more-text"><summary class="quiet">{message || "Output"}</summary><pre>{more}</pre></details>;
}

function Where({ one, trace }: { one: Case; trace: Trace | undefined }) {
  const all = Object.entries(one.captures);
  if (all.length === 0) return <span class="quiet">–</span>;
  return <>{all.map(([name, id]) => <a key={id} href={`/captures/${id}${placeOf(trace, id, one.name)}`}>{name} </a>)}</>;
}
