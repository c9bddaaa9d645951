// The sheet that makes a waveform: of ramps and steps, of a file with levels, or of a lane of a capture.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { Failure, call, request, url } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { WaveformsSegment, WaveformsWaveform } from "../api/schema.ts";
import { OUTPUTS, type Output, levelsOf, recordingOf } from "../model/waveform.ts";
import { navigate } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { Drop } from "../ui/drop.tsx";
import { Choice, Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { count } from "../ui/time.ts";

const WAYS = [{ id: "segments", name: "Ramps and steps" }, { id: "file", name: "A file" }, { id: "capture", name: "A capture" }] as const;
type Way = (typeof WAYS)[number]["id"];
const FIRST: WaveformsSegment = { shape: "ramp", duration_ms: 100, v_start: 0, v_end: 3.3 };
/** A capture is read as text, so a long one is refused before it fills the page. */
const SAMPLES_MAX = 2_000_000;

async function keep(name: string, levels: readonly number[], rate: number): Promise<WaveformsWaveform> {
  if (levels.length === 0) throw new Failure(0, { error: "there is no number in it", code: "no_levels" });
  const { samples, fullScale } = recordingOf(levels);
  const address = url("POST /bench/waveforms/recording", {}, { name, sample_rate_hz: rate, full_scale_v: fullScale, sample_count: levels.length });
  return (await request(address, { method: "POST", body: samples, headers: { "content-type": "application/octet-stream" } })).json() as Promise<WaveformsWaveform>;
}

export function WaveformMake({ onClose }: { onClose: () => void }) {
  const way = useSignal<Way>("segments");
  const [name, output, rate] = [useSignal(""), useSignal<Output>("3v3"), useSignal("100000")];
  const segments = useSignal<readonly WaveformsSegment[]>([FIRST]);
  const levels = useSignal<readonly number[]>([]);
  const file = useSignal("");
  const lane = useSignal("");
  const captures = useGet("captures analog", "GET /captures", { query: { limit: 100 } });
  const lanes = (captures.data.value?.captures ?? []).filter(({ status }) => status === "done").flatMap(({ id, name: called, kind, channels }) =>
    channels.filter(({ type }) => type === "analog").map((channel) => ({ value: `${id} ${channel.name}`, name: `${called ?? kind}: ${channel.label ?? channel.name}`, id, channel })));
  const from = lanes.find(({ value }) => value === lane.value) ?? lanes[0];
  const making = useAction(async () => {
    const called = name.value.trim();
    let made: WaveformsWaveform;
    if (way.value === "segments") made = await call("POST /bench/waveforms/segments", { body: { name: called, dac_path: output.value, segments: segments.value } });
    else if (way.value === "file") made = await keep(called, levels.value, Number(rate.value));
    else {
      const { id, channel } = from!;
      if (channel.samples > SAMPLES_MAX) throw new Failure(0, { error: `the lane has ${count(channel.samples)} samples, and ${count(SAMPLES_MAX)} can be taken`, code: "too_long" });
      const response = await request(url("GET /capture/{id}/export", { id }, { format: "csv", content: "analog", channels: channel.name }));
      // The first row has names, and one behind the last sample says when it ended.
      made = await keep(called, levelsOf((await response.text()).replace(/^.*\n/, "")).slice(0, channel.samples), channel.sample_rate_hz);
    }
    refresh("waveforms");
    navigate(`/waveforms/${made.id}`);
  });
  const wrong = making.failure.value?.fields ?? {};
  const incomplete = name.value.trim() === "" || (way.value === "file" && levels.value.length === 0) || (way.value === "capture" && !from);
  return (
    <FormSheet title="Make a waveform" submit="Make it" action={making} disabled={incomplete} onClose={onClose}>
      <Tabs label="Made of" tabs={WAYS} current={way.value} onChoose={(id) => (way.value = id)} />
      <Field first label="Name" of={name} maxLength={128} placeholder="brown-out" wrong={wrong["name"]} />
      {way.value === "segments" && <Segments output={output.value} segments={segments.value} onOutput={(next) => (output.value = next)} onChange={(next) => (segments.value = next)} />}
      {way.value === "file" && (
        <>
          <Drop label="Choose a file" accept=".csv,.txt" onFiles={([first]) => void first?.text().then((text) => {
            levels.value = levelsOf(text);
            file.value = first.name;
          })}>
            <p class={file.value && levels.value.length === 0 ? "fault" : "small"} role="status">{file.value ? `${file.value}: ${levels.value.length > 0 ? `${count(levels.value.length)} levels` : "no line ends with a number"}` : "or drop it here: CSV or text, one level in volts at the end of each line"}</p>
          </Drop>
          <Field label="Samples a second" type="number" min={1} step="any" required of={rate} wrong={wrong["sample_rate_hz"]} />
        </>
      )}
      {way.value === "capture" && (from ? <Choice label="Lane" value={from.value} options={lanes} onChange={(text) => (lane.value = text)} /> : <p>No capture has an analog lane yet.</p>)}
      {way.value !== "segments" && <p class="small">Levels below 0 are kept as 0.</p>}
    </FormSheet>
  );
}

const SHAPES = [{ value: "ramp", name: "Ramp" }, { value: "hold", name: "Hold" }, { value: "step", name: "Step" }] as const;

function Segments({ output, segments, onOutput, onChange }: { output: Output; segments: readonly WaveformsSegment[]; onOutput: (output: Output) => void; onChange: (segments: readonly WaveformsSegment[]) => void }) {
  const { unit } = OUTPUTS[output];
  const change = (at: number, members: Partial<WaveformsSegment>): void => onChange(segments.map((one, i) => (i === at ? { ...one, ...members } : one)));
  const number = (at: number, member: "duration_ms" | "v_start" | "v_end", label: string) => (
    <input class="short" type="number" step="any" required aria-label={`${label} of part ${at + 1}`} value={segments[at]![member]} onInput={(event) => change(at, { [member]: event.currentTarget.valueAsNumber })} />
  );
  return (
    <>
      <Choice label="Output" value={output} options={Object.entries(OUTPUTS).map(([value, { name }]) => ({ value, name }))} onChange={(text) => onOutput(text as Output)} />
      <ol class="segments" aria-label="Parts">
        {segments.map(({ shape }, i) => (
          <li key={i}>
            <select aria-label={`Shape of part ${i + 1}`} value={shape} onChange={(event) => change(i, { shape: event.currentTarget.value as WaveformsSegment["shape"] })}>{SHAPES.map(({ value, name }) => <option key={value} value={value}>{name}</option>)}</select>
            {number(i, "duration_ms", "Milliseconds")}<span class="small">ms</span>
            {number(i, "v_start", "Level at the start")}
            {shape !== "hold" && <><span class="small">to</span>{number(i, "v_end", "Level at the end")}</>}<span class="small">{unit}</span>
            {segments.length > 1 && <Button icon="cross" label={`Remove part ${i + 1}`} hidden onClick={() => onChange(segments.filter((_, at) => at !== i))} />}
          </li>
        ))}
      </ol>
      <div><Button icon="plus" label="Another part" onClick={() => onChange([...segments, { shape: "hold", duration_ms: 100, v_start: segments.at(-1)!.v_end, v_end: segments.at(-1)!.v_end }])} /></div>
    </>
  );
}
