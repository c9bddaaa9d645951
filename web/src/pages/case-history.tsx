// How the test cases went in the last jobs: which fail, since when, and whether firmware or bench is to blame.
import { useGet } from "../api/resource.ts";
import type { JobsCaseDevice, JobsCaseHistory, JobsCaseRun } from "../api/schema.ts";
import { judgement } from "../model/history.ts";
import { given, query, setQuery, withMember } from "../router.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Head } from "../ui/head.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { several } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";
import { Narrow } from "./measurements.tsx";

const CASES_MAX = 100;
/** A bar of a run: how wide with its gap, how high. What is worse is higher, for those who do not tell the colours apart. */
const [BAR, HEIGHT] = [6, 20];

const WENT: Readonly<Record<JobsCaseRun["outcome"], { readonly word: string; readonly tone: Tone; readonly high: number }>> = {
  passed: { word: "passed", tone: "ok", high: 8 },
  failed: { word: "failed", tone: "bad", high: 20 },
  broken: { word: "bench problem", tone: "warn", high: 14 },
  skipped: { word: "not run", tone: "quiet", high: 3 },
};

const FILTERS = ["name", "ref", "text", "since"] as const;
const keyOf = ({ run, name }: JobsCaseHistory): string => `${run}/${name ?? ""}`;
const titleOf = ({ run, name }: JobsCaseHistory): string => name ?? `${run}, as a whole`;

export function addressOfHistory(given: { readonly name?: string | null; readonly text?: string; readonly case?: string }): string {
  const members = new URLSearchParams(Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return `/jobs/cases?${members}`;
}

export default function CaseHistoryPage() {
  const filter = given(FILTERS);
  const found = useGet(`history ${JSON.stringify(filter)}`, "GET /jobs/cases", { query: { ...filter, limit: CASES_MAX } }, 10_000);
  const open = query.value.get("case");
  return (
    <main class="page">
      <Head title="Test cases" note="in the last 50 jobs that fit">
        <Narrow name="name" label="Job" />
        <Narrow name="ref" label="Ref" />
        <Narrow name="text" label="Case or run" />
      </Head>
      <Loaded resource={found} rows={5}>
        {({ cases, all, is_cut }) => {
          if (cases.length === 0) return <Empty icon="check" title={Object.keys(filter).length > 0 ? "No cases fit" : "No cases yet"}><p>When a job has ended, its cases are compared with those of the jobs before.</p><a class="button" href="/jobs">Jobs</a></Empty>;
          const chosen = cases.find((one) => keyOf(one) === open);
          return (
            <>
              {chosen && <OneCase of={chosen} />}
              <Table class="histories" label="Test cases" rows={cases} columns={COLUMNS} keyOf={keyOf} chosen={(one) => one === chosen} />
              {(all > cases.length || is_cut) && <p class="small">{all > cases.length ? `The first ${cases.length} of ${several(all, "case")}. ` : ""}{is_cut ? "The jobs have more than can be read at once. " : ""}Narrow the choice.</p>}
            </>
          );
        }}
      </Loaded>
    </main>
  );
}

const COLUMNS: readonly Column<JobsCaseHistory>[] = [
  { name: "Case", cell: (one) => <><a href={withMember("/jobs/cases", "case", keyOf(one))}>{titleOf(one)}</a>{one.name !== null && <span class="small">{one.run}</span>}</> },
  { name: "State", cell: (one) => <Badge tone={judgement(one).tone}>{judgement(one).word}</Badge> },
  { name: "Newest on the right", wide: true, cell: (one) => <Bars of={one} /> },
  { name: "Fails since", named: true, cell: ({ first_bad }) => (first_bad ? <a class={first_bad.commit ? "mono" : ""} href={`/jobs/${first_bad.job}`}>{first_bad.commit?.slice(0, 10) ?? first_bad.name ?? "a job"}</a> : <span class="quiet">–</span>) },
  { name: "Flaky", right: true, named: true, cell: ({ flaky_rate }) => <span class="number" title="Of the commits at which it ran more than once, the part at which it both passed and failed.">{flaky_rate === null ? "–" : `${Math.round(flaky_rate * 100)} %`}</span> },
  { name: "What it means", wide: true, cell: (one) => <span class="quiet">{judgement(one).text}</span> },
];

/** One bar for each job. */
function Bars({ of: { runs, passed, failed, broken, skipped } }: { of: JobsCaseHistory }) {
  const counts = [`${passed} passed`, `${failed} failed`, broken && `${broken} with a bench problem`, skipped && `${skipped} not run`].filter(Boolean).join(", ");
  return (
    <svg class="bars" width={runs.length * BAR} height={HEIGHT} role="img" aria-label={`${counts}; the newest: ${WENT[runs[0]!.outcome].word}`}>
      {runs.toReversed().map(({ outcome, job, commit }, i) => {
        const { tone, word, high } = WENT[outcome];
        return <rect key={job} class={tone} x={i * BAR} y={HEIGHT - high} width={BAR - 1} height={high}><title>{`${word}${commit ? `, ${commit.slice(0, 10)}` : ""}`}</title></rect>;
      })}
    </svg>
  );
}

const DEVICES: readonly Column<JobsCaseDevice>[] = [
  { name: "Device", cell: ({ device, name }) => (name ? <a href={`/devices/${device}`}>{name}</a> : `removed, ${device.slice(-6)}`) },
  ...([["Passed", "passed"], ["Failed", "failed"], ["Bench problem", "broken"]] as const).map(([name, went]): Column<JobsCaseDevice> => ({ name, right: true, named: true, cell: (one) => <span class="number">{one[went]}</span> })),
];

function OneCase({ of: one }: { of: JobsCaseHistory }) {
  const nameOf = (id: string): string => one.devices.find(({ device }) => device === id)?.name ?? id.slice(-6);
  const runs: readonly Column<JobsCaseRun>[] = [
    { name: "Outcome", cell: ({ outcome }) => <Badge tone={WENT[outcome].tone}>{WENT[outcome].word}</Badge> },
    { name: "Job", cell: ({ job, created_at }) => <a href={`/jobs/${job}?view=cases`}><Ago iso={created_at} /></a> },
    { name: "Commit", cell: ({ commit, job }) => <><span class="mono">{commit?.slice(0, 10) ?? "–"}</span>{job === one.first_bad?.job && <> <Badge tone="bad">first bad</Badge></>}</> },
    { name: "Device", cell: ({ device }) => (device ? nameOf(device) : "–") },
  ];
  return (
    <section class="card one-case" aria-label={titleOf(one)}>
      <div class="card-head">
        <h2>{titleOf(one)}</h2>
        <Button icon="cross" label="Close" hidden onClick={() => setQuery({ case: undefined })} />
      </div>
      <p>{judgement(one).text}</p>
      <div class="halves">
        <div class="tall"><Table label="Runs" rows={one.runs} columns={runs} keyOf={({ job }) => job} /></div>
        {one.devices.length > 0 && <Table label="By device" rows={one.devices} columns={DEVICES} keyOf={({ device }) => device} />}
      </div>
    </section>
  );
}
