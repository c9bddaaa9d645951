// The cursors, and what lies between them: of a stored capture as the server measures it.
import type { ComponentChildren } from "preact";
import { useAsked } from "../api/asked.ts";
import { duration, frequency, instant } from "../model/axis.ts";
import { gapsIn } from "../model/gaps.ts";
import { Badge } from "../ui/badge.tsx";
import { count, several } from "../ui/time.ts";
import type { Viewer } from "./viewer.ts";

/** A cursor that is dragged settles before the server is asked. */
const SETTLE_MS = 150;

export function Measurements({ viewer }: { viewer: Viewer }) {
  const { a, b } = viewer.cursors.value;
  const rate = viewer.source.rate;
  const samples = a !== undefined && b !== undefined ? Math.abs(b - a) : undefined;
  const at = (sample: number | undefined): string => (sample === undefined ? "–" : instant(viewer.seconds(sample), 1 / rate));
  return (
    <section class="panel" aria-label="Measurements">
      <h2>Measurements</h2>
      <dl class="values">
        <dt><span class="flag">A</span></dt><dd>{at(a)}</dd>
        <dt><span class="flag">B</span></dt><dd>{at(b)}</dd>
        <dt>Δt</dt><dd class="strong">{samples === undefined ? "–" : duration(samples / rate)}</dd>
        <dt>1/Δt</dt><dd>{samples ? frequency(rate / samples) : "–"}</dd>
      </dl>
      {samples === undefined && <p class="small">Click sets A, Shift-click sets B; near an edge they snap to it.</p>}
      {samples !== undefined && samples > 0 && viewer.lookups && <Between viewer={viewer} from={Math.min(a!, b!)} to={Math.max(a!, b!)} />}
    </section>
  );
}

function Between({ viewer, from, to }: { viewer: Viewer; from: number; to: number }) {
  const lane = viewer.selected.value;
  const measured = useAsked((signal) => viewer.lookups!.measure(lane, from, to, signal), [viewer, lane, from, to], SETTLE_MS);
  const name = viewer.source.lanes[lane]?.name;
  const lost = viewer.source.lanes[lane]?.kind === "digital" ? gapsIn(viewer.gaps, from, to).length : 0;
  if (measured.failure) return <p class="fault">{measured.failure.message}</p>;
  const { digital, analog, unit = "" } = measured.data ?? {};
  const value = (n: number | undefined): string => (n === undefined ? "–" : `${Number(n.toPrecision(4))} ${unit}`.replace("-", "−"));
  return (
    <>
    {lost > 0 && <p class="small"><Badge tone="warn">{several(lost, "gap")}</Badge> between A and B: what was lost is counted as if the level had stayed.</p>}
    <dl class="values">
      <dt>Lane</dt><dd>{name}</dd>
      {digital && (
        <>
          <Value name="Edges">{count(digital.rising)} ↑ {count(digital.falling)} ↓</Value>
          <Value name="Frequency">{digital.frequency_hz === undefined || digital.frequency_hz === null ? undefined : frequency(digital.frequency_hz)}</Value>
          <Value name="Duty">{digital.duty === undefined || digital.duty === null ? undefined : `${(digital.duty * 100).toFixed(1)} %`}</Value>
          <Value name="Shortest high">{digital.high_s && duration(digital.high_s.min)}</Value>
          <Value name="Shortest low">{digital.low_s && duration(digital.low_s.min)}</Value>
        </>
      )}
      {analog && (
        <>
          <Value name="Lowest">{value(analog.min)}</Value>
          <Value name="Highest">{value(analog.max)}</Value>
          <Value name="Mean">{value(analog.mean)}</Value>
          <Value name="RMS">{value(analog.rms)}</Value>
          <Value name="Frequency">{analog.frequency_hz === undefined || analog.frequency_hz === null ? undefined : frequency(analog.frequency_hz)}</Value>
        </>
      )}
    </dl>
    </>
  );
}

const Value = ({ name, children }: { name: string; children: ComponentChildren }) => (children === undefined || children === null ? null : <><dt>{name}</dt><dd>{children}</dd></>);
