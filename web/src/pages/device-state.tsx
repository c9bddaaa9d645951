// What can be said of a device in a word or two: its state, and who holds it.
import type { DevicesDevice } from "../api/schema.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Icon } from "../ui/icon.tsx";
import { rough } from "../ui/time.ts";
import { useNow } from "../ui/use-now.ts";

const STATES: Readonly<Record<DevicesDevice["state"], { readonly word: string; readonly tone: Tone }>> = {
  online: { word: "Online", tone: "ok" },
  offline: { word: "Offline", tone: "quiet" },
  updating: { word: "Updating", tone: "info" },
  quarantined: { word: "Quarantined", tone: "bad" },
  degraded: { word: "Degraded", tone: "warn" },
};

export function DeviceState({ device: { state, missing_parts } }: { device: DevicesDevice }) {
  const missing = missing_parts.map(({ part, reason }) => `${part}: ${reason}`).join("\n");
  return <Badge tone={STATES[state].tone} title={missing || undefined}>{STATES[state].word}</Badge>;
}

/** Who holds a device and how long still, or that it is free. */
export function Lease({ device: { lease, making_safe_since, making_safe_obstacle } }: { device: DevicesDevice }) {
  useNow(lease ? 1000 : 0);
  if (making_safe_since) return <span class="lease" title={making_safe_obstacle ?? undefined}><Icon name="clock" /> Being made safe</span>;
  if (!lease) return <span class="quiet">Free</span>;
  const left = (Date.parse(lease.expires_at) - Date.now()) / 1000;
  return (
    <span class="lease" title={`Until ${new Date(lease.expires_at).toLocaleString()}`}>
      <Icon name="lock" /> <b>{lease.holder}</b> <span class="small">{left > 0 ? `${rough(left)} left` : "ends now"}</span>
    </span>
  );
}

/** Why a person cannot drive the device now, if that is so. */
export function obstacle({ online, lease, making_safe_since }: DevicesDevice): string | undefined {
  if (!online) return "The device is offline.";
  if (lease) return `${lease.holder} holds this device.`;
  return making_safe_since ? "The device is being made safe after its last lease." : undefined;
}
