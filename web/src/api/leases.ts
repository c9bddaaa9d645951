// Devices that the person has taken in this tab: each is kept as long as the tab is open. And those that are waited for.
import { effect, signal } from "@preact/signals";
import { toast } from "../ui/toast.tsx";
import { call, failureOf, serverNow } from "./client.ts";
import { onHappened, staysOpen } from "./events.ts";
import { refresh } from "./resource.ts";
import type { DevicesDevice } from "./schema.ts";
import { beforeSignOut, session } from "./session.ts";

/** A lease that is not kept, because the tab is closed or its computer asleep, ends after this. */
const TTL_S = 120;
/** Browsers let tabs that are not seen run once a minute. */
const KEEP_MS = 40_000;
/** A place in line is kept for 15 s. */
const ASK_MS = 5000;

type Named = Pick<DevicesDevice, "id" | "name">;

interface Held {
  readonly name: string;
  /** By the clock of the server. */
  readonly expiresAt: number;
  readonly askedAt: number;
}

export interface Waiting {
  readonly name: string;
  /** Place in line, from 1; undefined when only the safe state is waited for. */
  readonly place: number | undefined;
}

const held = new Map<string, Held>();
export const waiting = signal<ReadonlyMap<string, Waiting>>(new Map());
/** Leases that look like the person's, but are of a program that calls itself so. */
const foreign = signal<ReadonlySet<string>>(new Set());
let timer = 0;

/** Whether all pages of the person drive this device. */
export const isMine = ({ id, lease }: Pick<DevicesDevice, "id" | "lease">): boolean => lease !== null && lease.holder === session.value?.login && !foreign.value.has(id);

/** Takes a device; one that somebody else holds is refused, as the server says it. */
export async function take(device: Named, isOverriding = false): Promise<void> {
  hold(device, await ask(device.id, { override: isOverriding }));
  refreshDevice(device.id);
}

/** Takes a device as soon as it can be had. */
export async function waitFor(device: Named): Promise<void> {
  setWaiting(device.id, { name: device.name, place: undefined });
  await askAgain(device);
}

/** Gives a device back, or the place in line. */
export async function giveBack({ id, name }: Named): Promise<void> {
  const had = held.get(id);
  held.delete(id);
  setWaiting(id, undefined);
  try {
    await call("DELETE /bench/devices/{id}/lease", { path: { id } });
  } catch (error) {
    // It is still the person's: it is kept, so that it can be given back later.
    if (had) held.set(id, { ...had, name });
    throw error;
  } finally {
    refreshDevice(id);
  }
}

/** For administrators: ends the lease of somebody. */
export async function endLease({ id, lease }: Pick<DevicesDevice, "id" | "lease">): Promise<void> {
  await call("DELETE /bench/devices/{id}/lease", { path: { id }, query: { holder: lease!.holder } });
  refreshDevice(id);
}

/** Keeps a lease that the person has already, from another tab or before this one was loaded again. */
export function keep(device: DevicesDevice): void {
  if (held.has(device.id) || !isMine(device)) return;
  held.set(device.id, { name: device.name, expiresAt: Date.parse(device.lease!.expires_at), askedAt: 0 });
  run();
}

const ask = (id: string, more: { queue?: boolean; override?: boolean } = {}) => call("POST /bench/devices/{id}/lease", { path: { id }, body: { ttl_seconds: TTL_S, ...more } });

function hold({ id, name }: Named, { expires_at }: { readonly expires_at: string }): void {
  setWaiting(id, undefined);
  held.set(id, { name, expiresAt: Date.parse(expires_at), askedAt: Date.now() });
  run();
}

function setWaiting(id: string, to: Waiting | undefined): void {
  const next = new Map(waiting.peek());
  if (to) next.set(id, to);
  else next.delete(id);
  waiting.value = next;
  staysOpen.value = next.size > 0;
  run();
}

function refreshDevice(id: string): void {
  refresh("devices");
  refresh(`device ${id}`);
}

function run(): void {
  const isNeeded = held.size > 0 || waiting.peek().size > 0;
  if (isNeeded && !timer) timer = setInterval(tick, ASK_MS);
  if (isNeeded) return;
  clearInterval(timer);
  timer = 0;
}

function tick(): void {
  for (const [id, { name }] of waiting.peek()) askAlone({ id, name });
  for (const [id, one] of held) if (Date.now() - one.askedAt >= KEEP_MS) void renew(id, one);
}

async function renew(id: string, one: Held): Promise<void> {
  // A computer that has slept must not take the device once more.
  if (serverNow() >= one.expiresAt) return lose(id, "has expired");
  held.set(id, { ...one, askedAt: Date.now() });
  try {
    const lease = await ask(id);
    if (held.has(id)) hold({ id, name: one.name }, lease);
  } catch (error) {
    const { status, code } = failureOf(error);
    if (status === 0 || status >= 500) return;
    if (code === "lease_held" && one.askedAt === 0) foreign.value = new Set([...foreign.peek(), id]);
    else lose(id, "is over");
    held.delete(id);
    run();
  }
}

function lose(id: string, what: string): void {
  const name = held.get(id)?.name;
  if (!held.delete(id)) return;
  toast(`Your lease of ${name} ${what}.`, "warning");
  refreshDevice(id);
  run();
}

/** What is asked for, and whether something has happened since, so that it is asked for again. */
const asking = new Map<string, boolean>();

async function askAgain(device: Named): Promise<void> {
  if (asking.has(device.id)) return void asking.set(device.id, true);
  asking.set(device.id, false);
  try {
    const lease = await ask(device.id, { queue: true });
    // The person has left the line meanwhile.
    if (!waiting.peek().has(device.id)) return void giveBack(device);
    hold(device, lease);
    toast(`${device.name} is yours now.`);
    refreshDevice(device.id);
  } catch (error) {
    const failure = failureOf(error);
    if (!waiting.peek().has(device.id)) return;
    if (failure.code === "lease_held") setWaiting(device.id, { name: device.name, place: failure.refusal.queue_place });
    else if (failure.status !== 0 && failure.status < 500) {
      setWaiting(device.id, undefined);
      throw failure;
    }
  } finally {
    const isDue = asking.get(device.id) === true;
    asking.delete(device.id);
    if (isDue && waiting.peek().has(device.id)) askAlone(device);
  }
}

/** As `askAgain`, where nobody sees what went wrong. */
const askAlone = (device: Named): void => void askAgain(device).catch((error) => toast(`You no longer wait for ${device.name}. ${failureOf(error).message}`, "warning"));

const ENDS: Readonly<Record<string, string>> = { taken_away: "was ended by an administrator", expired: "has expired" };

onHappened(({ kind, subject: id, details }) => {
  if (!id) return;
  if (kind === "lease.ended" || kind === "lease.taken") foreign.value = new Set([...foreign.peek()].filter((one) => one !== id));
  if (kind === "lease.ended" && held.has(id)) {
    const end = ENDS[String(details["reason"])];
    if (end) lose(id, end);
    else held.delete(id);
  }
  const wait = waiting.peek().get(id);
  if (wait && (kind === "lease.ended" || kind === "device.changed")) askAlone({ id, name: wait.name });
});

effect(() => {
  if (session.value) return;
  held.clear();
  waiting.value = new Map();
  staysOpen.value = false;
});

// Whoever leaves, leaves the bench to others.
beforeSignOut(() => Promise.allSettled([...held.keys(), ...waiting.peek().keys()].map((id) => call("DELETE /bench/devices/{id}/lease", { path: { id } }))));
