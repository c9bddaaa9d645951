// Why a console may be empty: the target has no power, or it has said what it says already. Both have a remedy beside them.
import type { DevicesDevice } from "../api/schema.ts";
import { type RailName, RailSwitch, usePower } from "../pages/power.tsx";
import { Badge } from "../ui/badge.tsx";
import { Restart } from "./restart.tsx";

const NAMES: Readonly<Record<RailName, string>> = { internal: "5 V rail", external: "external rail" };

export function Silence({ device, rail, isSilent }: { device: DevicesDevice; rail: RailName; isSilent: boolean }) {
  const power = usePower(device);
  const known = power.data.value;
  // Either rail may feed a target, whatever the wiring says.
  if (!known) return null;
  if (known.internal.on || known.external.on) return isSilent ? <p class="banner" role="status"><span class="grow">The target has said nothing since this page was opened. To see it start:</span> <Restart device={device} label="Restart the target" /></p> : null;
  return <p class="banner"><Badge tone="warn">No power</Badge> The target is off, so it says nothing. <RailSwitch device={device} power={power} rail={rail} label={`${NAMES[rail]} of ${device.name}`} /></p>;
}
