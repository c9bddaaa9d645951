// Labels of channels, which are kept on the capture: queries, decoders, rules and exported files know them.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";

const LABEL_MAX = 64;

export interface Named {
  readonly id: number;
  readonly name: string;
  readonly label?: string;
}

export function ChannelPanel({ capture, channels, onChanged }: { capture: string; channels: readonly Named[]; onChanged: () => Promise<void> }) {
  const open = useSignal(false);
  return (
    <section class="panel" aria-label="Channels">
      <h2>Channels <Button icon="edit" label="Label the channels" hidden onClick={() => (open.value = true)} /></h2>
      <p class="small">Give channels the names of your signals: SCL, RESET, 3V3.</p>
      {open.value && <ChannelSheet capture={capture} channels={channels} onChanged={onChanged} onClose={() => (open.value = false)} />}
    </section>
  );
}

function ChannelSheet({ capture, channels, onChanged, onClose }: { capture: string; channels: readonly Named[]; onChanged: () => Promise<void>; onClose: () => void }) {
  const labels = useSignal<Readonly<Record<number, string>>>(Object.fromEntries(channels.map(({ id, label }) => [id, label ?? ""])));
  const saving = useAction(async () => {
    const changed = channels.filter(({ id, label }) => (label ?? "") !== labels.peek()[id]!.trim());
    if (changed.length > 0) await call("PATCH /capture/{id}", { path: { id: capture }, body: { channels: changed.map(({ id }) => ({ id, label: labels.peek()[id]!.trim() })) } });
    void onChanged();
  });
  return (
    <FormSheet title="Labels of channels" submit="Save" action={saving} onClose={onClose}>
      <div class="columns">
        {channels.map(({ id, name }) => <Field key={id} label={name} value={labels.value[id] ?? ""} placeholder={name} maxLength={LABEL_MAX} onInput={(text) => (labels.value = { ...labels.value, [id]: text })} />)}
      </div>
    </FormSheet>
  );
}
