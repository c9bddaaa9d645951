// A target without power says nothing: the console says so, with the switch.
import type { DevicesDevice } from "../api/schema.ts";
import { type RailName, RailSwitch, usePower } from "../pages/power.tsx";
import { Badge } from "../ui/badge.tsx";

const NAMES: Readonly<Record<RailName, string>> = { internal: "5 V rail", external: "external rail" };

export function NoPower({ device, rail }: { device: DevicesDevice; rail: RailName }) {
  const power = usePower(device);
  const known = power.data.value;
  // Either rail may feed a target, whatever the wiring says.
  if (!known || known.internal.on || known.external.on) return null;
  return <p class="banner"><Badge tone="warn">No power</Badge> The target is off, so it says nothing. <RailSwitch device={device} power={power} rail={rail} label={`${NAMES[rail]} of ${device.name}`} /></p>;
}
