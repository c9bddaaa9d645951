// What jobs measured: for each name how the values are spread between their limits, and how they change.
import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import { call } from "../api/client.ts";
import { usePages } from "../api/pages.ts";
import { useGet } from "../api/resource.ts";
import type { JobsMeasurement, JobsMeasurementSummary } from "../api/schema.ts";
import { limits, quantity } from "../model/quantity.ts";
import { drawing } from "../model/trend.ts";
import { given, navigate, query, setQuery, withMember } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Head } from "../ui/head.tsx";
import { Search } from "../ui/search.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, More, Table } from "../ui/table.tsx";
import { count, several } from "../ui/time.ts";
import { useWidth } from "../ui/use-width.ts";
import { Ago } from "../ui/when.tsx";

const HEIGHT = 220;
/** Left of the drawing stand values. */
const LEFT = 84;
/** Below this a process is said to be not capable. */
const CPK_GOOD = 1.33;

type Asked = { readonly name?: string; readonly device?: string; readonly ref?: string; readonly since?: string };

export default function MeasurementsPage() {
  const filter: Asked = given(["name", "device", "ref", "since"]);
  return (
    <main class="page">
      <Head title={filter.name ?? "Measurements"} note={filter.name && <a href="/measurements">All measurements</a>}>
        <Narrow name="device" label="Device" />
        <Narrow name="ref" label="Ref" />
        <label class="inline">Since <input type="date" value={filter.since ?? ""} onChange={(event) => setQuery({ since: event.currentTarget.value })} /></label>
      </Head>
      {filter.name ? <OneName key={filter.name} filter={filter} /> : <Names filter={filter} />}
    </main>
  );
}

/** A filter of the server that stands in the address. */
export const Narrow = ({ name, label }: { name: string; label: string }) => <Search label={label} value={query.value.get(name) ?? ""} onInput={(text) => setQuery({ [name]: text.trim() })} />;

const COLUMNS: readonly Column<JobsMeasurementSummary>[] = [
  { name: "Name", cell: ({ name }) => <a href={withMember("/measurements", "name", name)}>{name}</a> },
  { name: "Values", right: true, cell: (one) => <span class="number">{count(one.count)}</span> },
  { name: "Lowest to highest", right: true, cell: ({ min, max, unit }) => <span class="number">{min === max ? quantity(min, unit) : `${quantity(min, unit)} to ${quantity(max, unit)}`}</span> },
  { name: "Mean", right: true, wideScreensOnly: true, cell: ({ mean, unit }) => <span class="number">{quantity(mean, unit)}</span> },
  { name: "Limits", right: true, cell: ({ low, high, unit }) => <span class="number">{limits(low, high, unit)}</span> },
  { name: "Cpk", right: true, cell: ({ cpk }) => <Capable cpk={cpk} /> },
  { name: "Change a day", right: true, wideScreensOnly: true, cell: ({ trend, unit }) => <span class="number">{trend === undefined ? "–" : `${trend > 0 ? "+" : ""}${quantity(trend, unit)}`}</span> },
];

const Capable = ({ cpk }: { cpk: number | undefined }) =>
  cpk === undefined ? <span class="quiet">–</span> : <Badge tone={cpk >= CPK_GOOD ? "ok" : cpk >= 1 ? "warn" : "bad"} title="How far the mean is from the nearer limit, in three deviations. 1.33 and more is good.">{cpk.toFixed(2)}</Badge>;

function Names({ filter }: { filter: Asked }) {
  const found = useGet(`measurements ${JSON.stringify(filter)}`, "GET /measurements", { query: { ...filter, limit: 1 } }, 10_000);
  return (
    <Loaded resource={found} rows={5}>
      {({ names, has_more_names, forgotten }) => (names.length === 0
        ? <Empty icon="capture" title={Object.keys(filter).length > 0 ? "No values fit" : "Nothing was measured yet"}><p>A step <code>measure</code> of a pipeline records a value of a capture with its limits.</p><a class="button" href="/jobs">Jobs</a></Empty>
        : (
          <>
            <Table label="Measurements" rows={names} columns={COLUMNS} keyOf={({ name, unit }) => `${name} ${unit}`} />
            {has_more_names && <p class="small">There are more names: narrow the choice by device, ref or day.</p>}
            {forgotten > 0 && <p class="small">{several(forgotten, "older value")} {forgotten === 1 ? "was" : "were"} forgotten to make room.</p>}
          </>
        ))}
    </Loaded>
  );
}

const VALUES: readonly Column<JobsMeasurement>[] = [
  { name: "Value", cell: ({ value, unit }) => quantity(value, unit) },
  { name: "Verdict", cell: ({ is_within }) => <Badge tone={is_within ? "ok" : "bad"}>{is_within ? "within" : "outside"}</Badge> },
  { name: "Limits", right: true, cell: ({ low, high, unit }) => <span class="number">{limits(low, high, unit)}</span> },
  { name: "Device", cell: ({ device_name, device }) => device_name ?? device ?? "–" },
  { name: "Job", cell: ({ job, run, step, ref }) => <><a href={`/jobs/${job}?view=measured`}>{run}</a><span class="small under">{step}{ref && `, ${ref}`}</span></> },
  { name: "When", right: true, cell: ({ at }) => <Ago iso={at} /> },
];

function OneName({ filter }: { filter: Asked }) {
  const summary = useSignal<JobsMeasurementSummary | undefined>(undefined);
  const values = usePages(`values ${JSON.stringify(filter)}`, async (cursor, signal) => {
    const { measurements, names, next_cursor: next } = await call("GET /measurements", { query: { ...filter, limit: 200, cursor } }, signal);
    if (!cursor) summary.value = names[0];
    // Pages are told apart by ids, which measurements have none of.
    return { rows: measurements.map((one) => ({ ...one, id: `${one.job} ${one.run} ${one.attempt} ${one.step}` })), next };
  });
  return (
    <Loaded resource={values.first} rows={6}>
      {() => (values.rows.length === 0
        ? <Empty icon="capture" title="No values fit"><a class="button" href="/measurements">All measurements</a></Empty>
        : (
          <>
            <Summary of={summary} />
            <Trend values={values.rows} />
            <Table label="Values" rows={values.rows} columns={VALUES} keyOf={({ id }) => id} />
            <More pages={values} />
          </>
        ))}
    </Loaded>
  );
}

function Summary({ of }: { of: Signal<JobsMeasurementSummary | undefined> }) {
  const one = of.value;
  if (!one) return null;
  const { unit } = one;
  return (
    <dl class="figures">
      <div><dt>Values</dt><dd>{count(one.count)}</dd></div>
      <div><dt>Mean</dt><dd>{quantity(one.mean, unit)}</dd></div>
      {one.deviation !== undefined && <div><dt>Deviation</dt><dd>{quantity(one.deviation, unit)}</dd></div>}
      <div><dt>Lowest, highest</dt><dd>{quantity(one.min, unit)}, {quantity(one.max, unit)}</dd></div>
      <div><dt>Limits</dt><dd>{limits(one.low, one.high, unit)}</dd></div>
      <div><dt>Cpk</dt><dd><Capable cpk={one.cpk} /></dd></div>
      {one.trend !== undefined && <div><dt>Change a day</dt><dd>{one.trend > 0 ? "+" : ""}{quantity(one.trend, unit)}</dd></div>}
    </dl>
  );
}

/** The values that are listed below, oldest on the left; one opens its job. */
function Trend({ values }: { values: readonly JobsMeasurement[] }) {
  const [box, width] = useWidth<HTMLDivElement>(800);
  const { points, low, high, marks } = drawing(values.map((of) => ({ at: Date.parse(of.at), value: of.value, low: of.low, high: of.high, of })), Math.max(100, width - LEFT - 8), HEIGHT);
  const unit = values[0]!.unit;
  const outside = values.filter(({ is_within }) => !is_within).length;
  return (
    <div class="trend" ref={box}>
      <svg width="100%" height={HEIGHT + 8} role="img" aria-label={`${several(values.length, "value")}, oldest on the left; ${outside} outside their limits. The table below has them.`}>
        <g transform={`translate(${LEFT} 4)`}>
          {marks.map(({ y, value }) => <g key={value}><line class="grid" x1="0" x2={width - LEFT} y1={y} y2={y} /><text x="-8" y={y + 4} text-anchor="end">{quantity(value, unit)}</text></g>)}
          {[...low, ...high].map(({ x, to, y }, i) => <line key={i} class="limit" x1={x} x2={to} y1={y} y2={y} />)}
          <polyline points={points.map(({ x, y }) => `${x},${y}`).join(" ")} />
          {points.map(({ x, y, of: { of } }, i) => (
            <circle key={i} class={of.is_within ? "" : "outside"} cx={x} cy={y} r={of.is_within ? 3.5 : 5} onClick={() => navigate(`/jobs/${of.job}?view=measured`)}>
              <title>{`${quantity(of.value, unit)}, ${of.device_name ?? ""} ${new Date(of.at).toLocaleString()}`}</title>
            </circle>
          ))}
        </g>
      </svg>
    </div>
  );
}
