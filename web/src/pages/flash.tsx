// Flashing the target of a device, and updating the pod itself.
import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { isFlashing } from "../model/flash.ts";
import { Empty, Loaded } from "../ui/states.tsx";
import { FlashForm } from "./flash-form.tsx";
import { FlashHistory } from "./flash-history.tsx";
import { FlashRun } from "./flash-run.tsx";
import { PodUpdate } from "./pod-update.tsx";

/** So often a flash is asked for its progress, and the list while none is under way. */
const RUNNING_MS = 400;
const IDLE_MS = 4000;

export function useFlashes(device: string) {
  const [running, run] = useState(false);
  return useResource(`flashes ${device}`, async (signal) => {
    const { flashes } = await call("GET /bench/devices/{id}/flash", { path: { id: device } }, signal);
    run(flashes.some(isFlashing));
    return flashes;
  }, running ? RUNNING_MS : IDLE_MS, running);
}

export function FlashTab({ device }: { device: DevicesDevice }) {
  const flashes = useFlashes(device.id);
  const newest = flashes.data.value?.[0];
  const missing = device.missing_parts.map(({ part, reason }) => `${part}: ${reason}`).join(". ");
  return (
    <div class="flash">
      {device.capabilities["cmsis_dap"] === false ? (
        <Empty icon="flash" title="This device cannot flash"><p>{missing || "It has no debug probe."}</p></Empty>
      ) : (
        <div class="halves">
          <FlashForm device={device} busy={newest !== undefined && isFlashing(newest)} onBegun={() => void flashes.reload()} />
          {newest && <FlashRun key={newest.id} device={device} flash={newest} onChanged={() => flashes.reload()} />}
        </div>
      )}
      <Loaded resource={flashes} rows={2}>{(all) => all.length > 1 ? <FlashHistory flashes={all.slice(1)} /> : null}</Loaded>
      <PodUpdate device={device} />
    </div>
  );
}
