// The rails of a target: what the pod measures, and the switches.
import { useAction } from "../api/action.ts";
import { Failure, call } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { Switch } from "../ui/switch.tsx";
import { obstacle } from "./device-state.tsx";

interface Measured {
  readonly bus_mv: number;
  readonly current_ua: number;
}
interface Fuse {
  readonly enabled: 0 | 1;
  readonly fault: 0 | 1;
}

export interface Rail extends Measured {
  readonly on: boolean;
  readonly tripped: boolean;
}
export type RailName = "internal" | "external";
export type Power = Readonly<Record<RailName, Rail>>;

/** As often as the server itself reads them. What is switched in other places is seen as late as this. */
const READ_MS = 5000;

/** Which fuse of the pod's commands switches a rail. */
export const FUSES: Readonly<Record<RailName, number>> = { internal: 1, external: 2 };

/** One command of the pod. What it refuses, it refuses with status 200 and a sentence. */
export async function command<T>(id: string, cmd: object & { cmd: string }, signal?: AbortSignal): Promise<T> {
  const answer = await call("POST /bench/devices/{id}/command", { path: { id }, body: { command: cmd } }, signal);
  if (answer.status !== "ok") throw new Failure(409, { error: answer.error ?? "the pod refused", code: "device_refused" });
  return answer.data as T;
}

/** Both commands only look, and are allowed while a lease holds the device. */
export function usePower(device: DevicesDevice) {
  return useResource(`power ${device.id} ${device.online}`, async (signal): Promise<Power | undefined> => {
    if (!device.online) return undefined;
    const [volts, fuses] = await Promise.all([
      command<Record<RailName, Measured>>(device.id, { cmd: "power_status" }, signal),
      command<{ efuse1: Fuse; efuse2: Fuse }>(device.id, { cmd: "target_status" }, signal),
    ]);
    const rail = (of: Measured, fuse: Fuse): Rail => ({ ...of, on: fuse.enabled === 1, tripped: fuse.fault === 1 });
    return { internal: rail(volts.internal, fuses.efuse1), external: rail(volts.external, fuses.efuse2) };
  }, READ_MS);
}

export function RailSwitch({ device, power, rail, label }: { device: DevicesDevice; power: ReturnType<typeof usePower>; rail: RailName; label: string }) {
  const known = power.data.value?.[rail];
  const switching = useAction(async (on: boolean) => {
    await command(device.id, { cmd: "target_power", efuse: FUSES[rail], state: on ? 1 : 0 } as { cmd: string });
    await power.reload();
  });
  return (
    <span class="rail">
      <Switch on={known?.on} label={label} busy={switching.busy.value} refused={obstacle(device)} onChange={(on) => void switching.run(on)} />
      <span class="measured">{known?.on ? <>{(known.bus_mv / 1000).toFixed(2)} V<br /> {(known.current_ua / 1000).toFixed(1)} mA</> : ""}</span>
      {known?.tripped && <span class="fault">tripped</span>}
      {switching.failure.value && <span class="fault" role="alert">{switching.failure.value.message}</span>}
    </span>
  );
}
