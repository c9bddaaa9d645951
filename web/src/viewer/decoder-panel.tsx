// The decoders of a capture: which ones there are, how one is added.
import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useGet, useResource } from "../api/resource.ts";
import { Button, Submit } from "../ui/button.tsx";
import { Choice, Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { count } from "../ui/time.ts";
import { settingOf } from "../model/option.ts";
import { Trouble } from "../ui/states.tsx";
import { type Decoder, type Described, SIGROK, allDecoders, describe, isSigrok } from "./decoders.ts";
import type { Viewer } from "./viewer.ts";

export function DecoderPanel({ viewer }: { viewer: Viewer }) {
  const [open, show] = useState(false);
  const [changed, change] = useState<Decoder | undefined>();
  return (
    <section class="panel" aria-label="Decoders">
      <h2>Decoders <Button icon="plus" label="Add decoder" hidden expanded={open} onClick={() => show(!open)} /></h2>
      {viewer.decoders.value.map((decoder) => <One key={decoder.key} decoder={decoder} onChange={() => change(changed === decoder ? undefined : decoder)} onRemove={() => viewer.removeDecoder(decoder)} />)}
      {changed && viewer.decoders.value.includes(changed) && <Add key={changed.key} viewer={viewer} instead={changed} onAdded={() => change(undefined)} />}
      {viewer.decoders.value.length === 0 && !open && <p class="small">None yet.</p>}
      {open && <Add viewer={viewer} onAdded={() => show(false)} />}
    </section>
  );
}

function One({ decoder, onChange, onRemove }: { decoder: Decoder; onChange: () => void; onRemove: () => void }) {
  const { channels, options } = decoder.decoding;
  const pairs = [...Object.entries(channels).map(([role, name]) => `${role.toUpperCase()} ${name}`), ...Object.entries(options).filter(([name]) => name !== "engine").map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`)];
  const state = decoder.state.value;
  return (
    <div class="decoder-row">
      <b>{decoder.name}</b>
      <span class="small">{pairs.join(" · ")}</span>
      {state === "reading" && <span class="spinner" role="status" aria-label="Reading" />}
      <span class="number">{state === "failed" ? "failed" : count(decoder.rows.value.reduce((sum, { annotations }) => sum + annotations.length, 0))}</span>
      <button type="button" class="quiet" aria-label={`Change ${decoder.name}`} title="Change its channels and options" onClick={onChange}><Icon name="edit" /></button>
      <button type="button" class="quiet" aria-label={`Remove ${decoder.name}`} onClick={onRemove}><Icon name="cross" /></button>
      {decoder.message.value && <p class={state === "failed" ? "fault" : "small"}>{decoder.message.value}</p>}
    </div>
  );
}

/** What of any decoder may be set besides its own options; docs/captures.md, "Decode". */
const COMMON: readonly { readonly id: string; readonly text: string; readonly unit: string }[] = [{ id: "glitch", text: "Leave out pulses shorter than", unit: "ns" }];
const THRESHOLD = [{ id: "threshold", text: "Analog lanes are high above", unit: "V" }, { id: "hysteresis", text: "Hysteresis", unit: "V" }] as const;

/** Options that the API takes for something else under the same name. */
const TAKEN: ReadonlySet<string> = new Set(["format"]);

/** Options that are set nearly always stand before the others. */
const FIRST: ReadonlySet<string> = new Set(["baudrate", "parts"]);

/** Stands in the list of protocols for all that sigrok-cli has. */
const STACK = "sigrok:";
/** So many decoders may stand on top of each other. */
const STACK_MAX = 8;

/** Decoders of sigrok on top of each other: the lowest one reads the channels, the highest one says what is shown. */
function Stack({ stack, onChange }: { stack: readonly string[]; onChange: (stack: readonly string[]) => void }) {
  const all = useGet("decoders of sigrok", "GET /decoders", { query: SIGROK });
  if (!all.data.value) return all.failure.value ? <Trouble failure={all.failure.value} again={() => void all.reload()} /> : <p class="small">Reading what sigrok has…</p>;
  const options = all.data.value.decoders.map(({ id, name }) => ({ value: id, name: `${id}: ${name}` }));
  return <>{[...stack, ""].slice(0, STACK_MAX).map((id, i) => <Choice key={i} label={i === 0 ? "Decoder" : "On top of it"} value={id} onChange={(next) => onChange([...stack.slice(0, i), ...(next === "" ? [] : [next])])} options={[{ value: "", name: i === 0 ? "Choose" : "None" }, ...options]} />)}</>;
}

function Add({ viewer, instead, onAdded }: { viewer: Viewer; instead?: Decoder; onAdded: () => void }) {
  const decoders = useResource("decoders", allDecoders);
  const protocol = useSignal(instead && !isSigrok(instead.decoding) ? instead.decoding.protocol : instead ? STACK : "i2c");
  const stack = useSignal<readonly string[]>(instead && isSigrok(instead.decoding) ? instead.decoding.protocol.split(",") : []);
  const [channels, options] = [useSignal<Readonly<Record<string, string>>>({}), useSignal<Readonly<Record<string, string>>>({})];
  const isStack = protocol.value === STACK;
  const chosen = isStack ? stack.value.join(",") : protocol.value;
  const one = useResource<Described | undefined>(`decoder ${isStack} ${chosen}`, () => (chosen === "" ? Promise.resolve(undefined) : describe({ protocol: chosen, options: isStack ? SIGROK : {} })));
  const described = one.data.value;
  // What arrives is decoded by the server's own decoders alone, lane by lane.
  const isLive = viewer.liveOf !== undefined;
  const lanes = viewer.source.lanes.filter(({ kind }) => !isLive || kind === "digital");
  useEffect(() => {
    channels.value = options.value = {};
    if (!described) return;
    const isSame = instead?.decoding.protocol === chosen;
    channels.value = isSame ? instead.decoding.channels : guessed(described, lanes.filter(({ kind }) => kind === "digital").map(({ name }) => name));
    options.value = isSame ? instead.decoding.options : {};
  }, [described]);
  if (!decoders.data.value) return decoders.failure.value ? <Trouble failure={decoders.failure.value} again={() => void decoders.reload()} /> : <p class="small">Reading what decoders there are…</p>;
  const wanted = (given: Readonly<Record<string, string>>): Record<string, string> => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  const set = (id: string, value: string): void => void (options.value = { ...options.value, [id]: value });
  const isAnalog = Object.values(channels.value).some((name) => lanes.find((lane) => lane.name === name)?.kind === "analog");
  const own = described?.options.filter(({ id }) => !TAKEN.has(id)) ?? [];
  const first = isStack ? [] : own.filter(({ id }) => FIRST.has(id));
  const isMissing = !described || described.channels.some(({ id, required }) => required && !channels.value[id]) || Object.keys(wanted(channels.value)).length === 0;
  return (
    <form class="stack" onSubmit={(event) => {
      event.preventDefault();
      viewer.addDecoder({ protocol: chosen, channels: wanted(channels.value), options: { ...wanted(options.value), ...(isStack ? SIGROK : {}) } }, instead);
      onAdded();
    }}>
      <Choice label="Protocol" of={protocol} options={[...decoders.data.value.filter(({ engine }) => !isLive || engine === "hostd").map(({ id, name }) => ({ value: id, name })), ...(isLive ? [] : [{ value: STACK, name: "One of sigrok's, or several stacked" }])]} />
      {isStack && <Stack stack={stack.value} onChange={(next) => (stack.value = next)} />}
      {chosen !== "" && !described && (one.failure.value ? <Trouble failure={one.failure.value} again={() => void one.reload()} /> : <p class="small">Reading what it needs…</p>)}
      {described?.channels.map(({ id, name, required }) => (
        <Choice key={id} label={name} required={required} value={channels.value[id] ?? ""} onChange={(lane) => (channels.value = { ...channels.value, [id]: lane })} options={[{ value: "", name: required ? "Choose" : "None" }, ...lanes.map((lane) => ({ value: lane.name, name: lane.name }))]} />
      ))}
      {isAnalog && THRESHOLD.map(({ id, text, unit }) => <Field key={id} label={text} unit={unit} type="number" step="any" required={id === "threshold"} value={options.value[id] ?? ""} onInput={(value) => set(id, value)} />)}
      {first.map((option) => <Setting key={option.id} option={option} value={options.value[option.id] ?? ""} onChange={(value) => set(option.id, value)} />)}
      <details open={instead !== undefined}>
        <summary>Options</summary>
        <div class="stack">
          {own.filter((option) => !first.includes(option)).map((option) => <Setting key={option.id} option={option} value={options.value[option.id] ?? ""} onChange={(value) => set(option.id, value)} />)}
          {COMMON.map(({ id, text, unit }) => <Field key={id} label={text} unit={unit} type="number" min={0} value={options.value[id] ?? ""} onInput={(value) => set(id, value)} />)}
        </div>
      </details>
      <Submit label={instead ? "Change" : "Add"} busy={false} disabled={isMissing} />
    </form>
  );
}

function Setting({ option, value, onChange }: { option: Described["options"][number]; value: string; onChange: (value: string) => void }) {
  const usual = String(option.default);
  const values = (option as { readonly values?: readonly unknown[] }).values;
  const { label, unit, isNumber, hint } = settingOf({ ...option, default: usual });
  if (values?.length) return <Choice label={label} value={value || usual} onChange={(next) => onChange(next === usual ? "" : next)} options={values.map(String)} />;
  return <Field label={label} value={value} placeholder={usual} hint={hint} {...(unit ? { unit } : {})} {...(isNumber ? { type: "number", step: "any" } : {})} onInput={onChange} />;
}

/** Lanes that are named after a role have it. */
function guessed({ channels }: Described, lanes: readonly string[]): Record<string, string> {
  return Object.fromEntries(channels.flatMap(({ id }) => {
    const lane = lanes.find((name) => name.toLowerCase().split(/\W+/).includes(id.toLowerCase()));
    return lane ? [[id, lane]] : [];
  }));
}
