// The sheet that plays a waveform on an output of a device, and stops it.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import type { WaveformsStarted, WaveformsWaveform } from "../api/schema.ts";
import { OUTPUTS, type Output } from "../model/waveform.ts";
import { Button, Submit } from "../ui/button.tsx";
import { Check, Choice } from "../ui/field.tsx";
import { Sheet } from "../ui/sheet.tsx";
import { Trouble } from "../ui/states.tsx";
import { count } from "../ui/time.ts";
import { toast } from "../ui/toast.tsx";
import { obstacle } from "./device-state.tsx";
import { useDevices } from "./devices.tsx";
import { command } from "./power.tsx";

export function WaveformPlay({ waveform, output, mapping, onClose }: { waveform: WaveformsWaveform; output: Output; mapping: "faithful" | "fit"; onClose: () => void }) {
  const all = useDevices(2000).data.value?.devices ?? [];
  const chosen = useSignal("");
  const device = all.find(({ id }) => id === chosen.value) ?? all.find(({ online, capabilities }) => online && capabilities["dac"] === true);
  const withCapture = useSignal(false);
  const started = useSignal<WaveformsStarted | undefined>(undefined);
  const playing = useAction(async () => {
    started.value = await call("POST /dac/replay/start", { body: { device_id: device!.id, waveform_id: waveform.id, dac_path: output, mapping, on_capture: withCapture.value } });
  });
  const stopping = useAction(async () => {
    await command(device!.id, { cmd: "dac_stop" });
    started.value = undefined;
    toast("It has stopped: the output keeps its last level");
  });
  const held = device && obstacle(device);
  const now = started.value;
  const failure = playing.failure.value ?? stopping.failure.value;
  return (
    <Sheet title={`Play ${waveform.name}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => {
        event.preventDefault();
        void playing.run();
      }}>
        <Choice label="Device" value={device?.id ?? ""} options={all.map(({ id, name, online, capabilities }) => ({ value: id, name: !online ? `${name} (offline)` : capabilities["dac"] === true ? name : `${name} (no analog output)`, disabled: !online || capabilities["dac"] !== true }))} onChange={(id) => (chosen.value = id)} />
        <p>It is played on the {OUTPUTS[output].name}, again and again until it is stopped. Check what is wired there.</p>
        <Check label="Begin with sample 0 of the next capture" of={withCapture} />
        {held && <p class="small">{held}</p>}
        <Trouble failure={failure} />
        {now && (
          <div role="status" class="stack">
            <p><b>{now.status === "armed" ? "It waits for the next capture." : "It plays."}</b> {count(now.samples)} codes at {count(Math.round(now.sample_rate_hz))} a second{now.speed !== undefined && Math.abs(now.speed - 1) > 0.005 ? `, at ${now.speed.toFixed(2)} times its own speed` : ""}.</p>
            {now.warnings?.map((warning) => <p key={warning} class="small">{warning}</p>)}
          </div>
        )}
        <div class="sheet-end">
          <Button label="Close" onClick={onClose} />
          <Button icon="stop" label="Stop" action={stopping} disabled={!device || held !== undefined} />
          <Submit label="Play" busy={playing.busy.value} disabled={!device || held !== undefined} />
        </div>
      </form>
    </Sheet>
  );
}
