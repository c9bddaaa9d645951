// What can be said of a device in a word or two: its state, and who holds it.
import { useEffect } from "preact/hooks";
import { serverNow } from "../api/client.ts";
import { isMine, waiting } from "../api/leases.ts";
import { refresh } from "../api/resource.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { session } from "../api/session.ts";
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

/** A lease is looked at once more when it should be over: that it was kept, no event says. */
const AFTER_MS = 500;

export function DeviceState({ device: { state, missing_parts } }: { device: DevicesDevice }) {
  const missing = missing_parts.map(({ part, reason }) => `${part}: ${reason}`).join("\n");
  return <Badge tone={STATES[state].tone} title={missing || undefined}>{STATES[state].word}</Badge>;
}

/** A program that gives its lease no label holds it by the id of its user. */
export const holderOf = ({ holder }: { readonly holder: string }): string =>
  holder === session.value?.user ? "A program of yours" : /^[0-9A-Z]{26}$/.test(holder) ? `A program of user ${holder.slice(-6)}` : holder;

/** What ending a lease does to who has it. */
export const Loses = ({ lease }: { lease: { readonly holder: string } }) => <><b>{holderOf(lease)}</b> loses the device at once: its captures and flashes end, its streams close, and the target is switched off.</>;

/** Who holds a device and how long still, or that it is free. */
export function Lease({ device }: { device: DevicesDevice }) {
  const { id, lease, making_safe_since, making_safe_obstacle } = device;
  const mine = isMine(device);
  useNow(lease && !mine ? 1000 : 0);
  const left = lease ? Date.parse(lease.expires_at) - serverNow() : 0;
  useEffect(() => {
    if (!lease) return;
    const timer = setTimeout(() => {
      refresh("devices");
      refresh(`device ${id}`);
    }, Math.max(0, left) + AFTER_MS);
    return () => clearTimeout(timer);
  }, [lease?.expires_at]);
  if (making_safe_since) return <span class="lease" title={making_safe_obstacle ?? undefined}><Icon name="clock" /> Being made safe</span>;
  if (!lease) return <span class="quiet">Free</span>;
  return (
    <span class={mine ? "lease mine" : "lease"} title={`Until ${new Date(lease.expires_at).toLocaleString()}`}>
      <Icon name="lock" /> <b>{mine ? "Yours" : holderOf(lease)}</b> {!mine && <span class="small">{left > 0 ? `${rough(left / 1000)} left` : "ends now"}</span>}
    </span>
  );
}

/** Why a person cannot drive the device now, if that is so. */
export function obstacle(device: DevicesDevice): string | undefined {
  const { id, online, lease, making_safe_since } = device;
  if (!online) return "The device is offline.";
  if (isMine(device)) return undefined;
  if (lease) return `${holderOf(lease)} holds this device.${waiting.value.has(id) ? " You wait in line for it." : ""}`;
  return making_safe_since ? "The device is being made safe after its last lease." : undefined;
}
