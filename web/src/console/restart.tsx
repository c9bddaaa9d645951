// Starts a target from the beginning, so that its first words are seen: the rails that feed it go off and on.
import { useAction } from "../api/action.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { obstacle } from "../pages/device-state.tsx";
import { FUSES, type RailName, command, usePower } from "../pages/power.tsx";
import { Button } from "../ui/button.tsx";
import { toast } from "../ui/toast.tsx";

/** So long a target has no power: its capacitors run empty. */
const OFF_MS = 400;

export function Restart({ device, label, hidden = false }: { device: DevicesDevice; label: string; hidden?: boolean }) {
  const power = usePower(device);
  const known = power.data.value;
  const on = (Object.keys(FUSES) as RailName[]).filter((rail) => known?.[rail].on);
  const restarting = useAction(async () => {
    const all = (state: 0 | 1) => Promise.all(on.map((rail) => command(device.id, { cmd: "target_power", efuse: FUSES[rail], state } as { cmd: string })));
    try {
      await all(0);
      await new Promise((later) => setTimeout(later, OFF_MS));
    } finally {
      await all(1);
    }
    await power.reload();
  });
  const held = obstacle(device) ?? (on.length === 0 ? "The target is off" : undefined);
  return <Button icon="power" label={label} hidden={hidden} busy={restarting.busy.value} disabled={held !== undefined} title={held ?? `${label}: its power goes off and on`} onClick={() => void restarting.run().then((done) => done || toast(restarting.failure.value?.message))} />;
}
