// Voltage and current of the rails in the last hour.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { call } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { HOUR_MS, NOTHING, type Readings, appended, line, nearest, summary, times } from "../model/rails.ts";
import { Loaded } from "../ui/states.tsx";
import { useWidth } from "../ui/use-width.ts";

const NAMES: Readonly<Record<number, string>> = { 1: "Internal 5 V", 2: "External supply" };
/** Heights of the two drawings, what is between them, and the times below. */
const [VOLTS, AMPS, GAP, BELOW, LEFT] = [64, 64, 14, 18, 56];
const QUARTER_MS = 900_000;

interface Known {
  readonly intervalMs: number;
  readonly rails: ReadonlyMap<number, Readings>;
}

export function RailHistory({ device }: { device: DevicesDevice }) {
  const { id } = device;
  const known = useMemo(() => ({ rails: new Map<number, Readings>() }), [id]);
  // After the first time only what has come since.
  const history = useResource(`telemetry ${id}`, async (signal): Promise<Known> => {
    const last = Math.max(0, ...[...known.rails.values()].map(({ at }) => at.at(-1) ?? 0));
    const { interval_ms: intervalMs, rails } = await call("GET /bench/devices/{id}/telemetry", { path: { id }, query: last ? { from: last + 1 } : {} }, signal);
    for (const { rail, at_ms: at, mv, ua } of rails) known.rails.set(rail, appended(known.rails.get(rail) ?? NOTHING, { at, mv, ua }));
    return { intervalMs, rails: new Map(known.rails) };
  }, device.online ? 5000 : 0);
  return (
    <section class="card rails" aria-labelledby="rails">
      <h2 id="rails">Power in the last hour</h2>
      <Loaded resource={history} rows={3}>
        {({ intervalMs, rails }) => {
          const shown = [...rails].filter(([, readings]) => summary(readings).on);
          if (shown.length > 0) return shown.map(([rail, readings]) => <Rail key={rail} name={NAMES[rail] ?? `Rail ${rail}`} readings={readings} intervalMs={intervalMs} />);
          return <p class="small">{[...rails.values()].some(({ at }) => at.length > 0) ? "The target had no power." : "Nothing has been measured yet."}</p>;
        }}
      </Loaded>
    </section>
  );
}

const volts = (mv: number): string => `${(mv / 1000).toFixed(2)} V`;
const milliamperes = (ua: number): string => `${(ua / 1000).toFixed(1)} mA`;
const clock = (ms: number, length: 5 | 8): string => new Date(ms).toTimeString().slice(0, length);

function Rail({ name, readings, intervalMs }: { name: string; readings: Readings; intervalMs: number }) {
  const [box, width] = useWidth<HTMLDivElement>(640);
  /** The moment that is looked at; undefined: the newest. */
  const moment = useSignal<number | undefined>(undefined);
  const { at, mv, ua } = readings;
  const last = at.length - 1;
  const to = at[last]!;
  const inner = Math.max(80, width - LEFT - 8);
  const scope = { from: to - HOUR_MS, to, width: inner, intervalMs };
  const upper = line(at, mv.map((one) => one / 1000), { ...scope, height: VOLTS });
  const lower = line(at, ua.map((one) => one / 1000), { ...scope, height: AMPS });
  const i = moment.value === undefined ? last : nearest(at, moment.value);
  const x = ((at[i]! - scope.from) / HOUR_MS) * inner;
  const offset = -new Date(to).getTimezoneOffset() * 60_000;
  const go = (to: number): void => void (moment.value = to >= last ? undefined : at[Math.max(0, to)]);
  const steps: Readonly<Record<string, number>> = { ArrowLeft: i - 1, ArrowRight: i + 1, PageDown: i - 60, PageUp: i + 60, Home: 0, End: last, Escape: last };
  const said = `${clock(at[i]!, 8)}, ${volts(mv[i]!)}, ${milliamperes(ua[i]!)}`;
  const bottom = VOLTS + GAP + AMPS;
  return (
    <figure class="rail-history">
      <figcaption><b>{name}</b> <span class="number">{clock(at[i]!, 8)} <b>{volts(mv[i]!)}</b> <b>{milliamperes(ua[i]!)}</b></span></figcaption>
      <div ref={box} class="trend" role="slider" tabIndex={0} aria-label={`${name}, a moment of the last hour`} aria-valuemin={0} aria-valuemax={last} aria-valuenow={i} aria-valuetext={said} onKeyDown={(event) => {
        const step = steps[event.key];
        if (step === undefined) return;
        event.preventDefault();
        go(step);
      }} onPointerMove={(event) => {
        const px = event.clientX - box.current!.getBoundingClientRect().left - LEFT;
        moment.value = scope.from + (Math.min(inner, Math.max(0, px)) / inner) * HOUR_MS;
      }} onPointerLeave={() => (moment.value = undefined)}>
        <svg width="100%" height={bottom + BELOW} aria-hidden="true">
          <g transform={`translate(${LEFT} 4)`}>
            {times(scope.from, to, inner < 400 ? 2 * QUARTER_MS : QUARTER_MS, offset).map((time) => {
              const at = ((time - scope.from) / HOUR_MS) * inner;
              return <g key={time}><line class="grid" x1={at} x2={at} y1="0" y2={bottom} />{at > 14 && at < inner - 14 && <text x={at} y={bottom + 13} text-anchor="middle">{clock(time, 5)}</text>}</g>;
            })}
            <Drawn of={upper} unit="V" top={0} width={inner} lane="volts" />
            <Drawn of={lower} unit="mA" top={VOLTS + GAP} width={inner} lane="amps" />
            {moment.value !== undefined && <line class="here" x1={x} x2={x} y1="0" y2={bottom} />}
            <circle class="volts" cx={x} cy={upper.y(mv[i]! / 1000)} r="3" />
            <circle class="amps" cx={x} cy={VOLTS + GAP + lower.y(ua[i]! / 1000)} r="3" />
          </g>
        </svg>
      </div>
      <Said readings={readings} />
    </figure>
  );
}

const Drawn = ({ of: { path, marks }, unit, top, width, lane }: { of: ReturnType<typeof line>; unit: string; top: number; width: number; lane: string }) => (
  <g transform={`translate(0 ${top})`}>
    {marks.map(({ y, value }) => <g key={value}><line class="grid" x1="0" x2={width} y1={y} y2={y} /><text x="-8" y={y + 4} text-anchor="end">{value} {unit}</text></g>)}
    <path class={lane} d={path} />
  </g>
);

/** The hour in words. */
function Said({ readings }: { readings: Readings }) {
  const { on, isOn } = summary(readings);
  if (!on) return null;
  const range = volts(on.lowMv) === volts(on.highMv) ? volts(on.highMv) : `${volts(on.lowMv)} to ${volts(on.highMv)}`;
  return <p class="small">{isOn ? "" : "Off now. "}With power: {range}, on average {milliamperes(on.meanUa)}, at most {milliamperes(on.mostUa)}.</p>;
}
