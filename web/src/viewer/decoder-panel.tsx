// The decoders of a capture: which ones there are, how one is added.
import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useResource } from "../api/resource.ts";
import { Button, Submit } from "../ui/button.tsx";
import { Choice, Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { count } from "../ui/time.ts";
import { type Decoder, type Described, allDecoders } from "./decoders.ts";
import type { Viewer } from "./viewer.ts";

export function DecoderPanel({ viewer }: { viewer: Viewer }) {
  const [open, show] = useState(false);
  return (
    <section class="panel" aria-label="Decoders">
      <h2>Decoders <Button icon="plus" label="Add decoder" hidden expanded={open} onClick={() => show(!open)} /></h2>
      {viewer.decoders.value.map((decoder) => <One key={decoder.key} decoder={decoder} onRemove={() => viewer.removeDecoder(decoder)} />)}
      {viewer.decoders.value.length === 0 && !open && <p class="small">None yet.</p>}
      {open && <Add viewer={viewer} onAdded={() => show(false)} />}
    </section>
  );
}

function One({ decoder, onRemove }: { decoder: Decoder; onRemove: () => void }) {
  const { channels, options } = decoder.decoding;
  const pairs = [...Object.entries(channels).map(([role, name]) => `${role.toUpperCase()} ${name}`), ...Object.entries(options).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`)];
  const state = decoder.state.value;
  return (
    <div class="decoder-row">
      <b>{decoder.name}</b>
      <span class="small">{pairs.join(" · ")}</span>
      {state === "reading" && <span class="spinner" role="status" aria-label="Reading" />}
      <span class="number">{state === "failed" ? "failed" : count(decoder.rows.value.reduce((sum, { annotations }) => sum + annotations.length, 0))}</span>
      <button type="button" class="quiet" aria-label={`Remove ${decoder.name}`} onClick={onRemove}><Icon name="cross" /></button>
      {decoder.message.value && <p class={state === "failed" ? "fault" : "small"}>{decoder.message.value}</p>}
    </div>
  );
}

function Add({ viewer, onAdded }: { viewer: Viewer; onAdded: () => void }) {
  const decoders = useResource("decoders", allDecoders);
  const protocol = useSignal("i2c");
  const [channels, options] = [useSignal<Readonly<Record<string, string>>>({}), useSignal<Readonly<Record<string, string>>>({})];
  const described = decoders.data.value?.find(({ id }) => id === protocol.value);
  // An analog lane is read as logic through a threshold, which the server asks for.
  const lanes = viewer.source.lanes.filter(({ kind }) => kind === "digital");
  useEffect(() => {
    if (!described) return;
    channels.value = guessed(described, lanes.map(({ name }) => name));
    options.value = {};
  }, [described]);
  if (!described) return <p class="small">Reading what decoders there are…</p>;
  const wanted = (given: Readonly<Record<string, string>>): Record<string, string> => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  return (
    <form class="stack" onSubmit={(event) => {
      event.preventDefault();
      viewer.addDecoder({ protocol: protocol.value, channels: wanted(channels.value), options: wanted(options.value) });
      onAdded();
    }}>
      <Choice label="Protocol" value={protocol.value} onChange={(id) => (protocol.value = id)} options={decoders.data.value!.map(({ id, name }) => ({ value: id, name }))} />
      {described.channels.map(({ id, name, required }) => (
        <Choice key={id} label={name} required={required} value={channels.value[id] ?? ""} onChange={(lane) => (channels.value = { ...channels.value, [id]: lane })} options={[{ value: "", name: required ? "Choose" : "None" }, ...lanes.map((lane) => ({ value: lane.name, name: lane.name }))]} />
      ))}
      <details>
        <summary>Options</summary>
        <div class="stack">{described.options.map((option) => <Setting key={option.id} option={option} value={options.value[option.id] ?? ""} onChange={(value) => (options.value = { ...options.value, [option.id]: value })} />)}</div>
      </details>
      <Submit label="Add" busy={false} />
    </form>
  );
}

function Setting({ option, value, onChange }: { option: Described["options"][number]; value: string; onChange: (value: string) => void }) {
  const usual = String(option.default);
  const values = (option as { readonly values?: readonly unknown[] }).values;
  if (values?.length) return <Choice label={option.text} value={value || usual} onChange={(next) => onChange(next === usual ? "" : next)} options={values.map(String)} />;
  return <Field label={option.text} value={value} placeholder={usual} onInput={onChange} />;
}

/** Lanes that are named after a role have it. */
function guessed({ channels }: Described, lanes: readonly string[]): Record<string, string> {
  return Object.fromEntries(channels.flatMap(({ id }) => {
    const lane = lanes.find((name) => name.toLowerCase().split(/\W+/).includes(id.toLowerCase()));
    return lane ? [[id, lane]] : [];
  }));
}
