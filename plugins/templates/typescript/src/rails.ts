// What the rails of all devices draw, and above which current a rail is marked. The host's functions are arguments of
// everything here, so that tests can stand in for them.

export const KEY = "warn_milliamperes";
const LEAST = 1;
const MOST = 10_000;

export interface Rail {
  id: number;
  on: boolean;
  millivolts?: bigint;
  microamperes?: bigint;
}

export interface Host {
  devices(): { id(): string; name(): string }[];
  rails(device: string): Rail[];
  config(): string;
  get(key: string): { value: Uint8Array } | undefined;
  put(key: string, value: Uint8Array): unknown;
}

/** A request that is refused, with a code that programs understand. */
export class Refused extends Error {
  constructor(readonly status: number, readonly code: string, message: string) {
    super(message);
  }
}

/** The current in mA above which a rail is marked: what was stored, else what the operator configured. */
export function warning(host: Host): number {
  const entry = host.get(KEY);
  if (entry) return Number(new TextDecoder().decode(entry.value));
  return JSON.parse(host.config())[KEY];
}

/** Store what a body such as {"warn_milliamperes": 250} says. */
export function setWarning(host: Host, body: Uint8Array): number {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body))?.[KEY];
  } catch {
    value = undefined;
  }
  if (typeof value !== "number" || !Number.isInteger(value) || value < LEAST || value > MOST) {
    throw new Refused(400, "invalid", `${KEY} must be a number from ${LEAST} to ${MOST}`);
  }
  host.put(KEY, new TextEncoder().encode(String(value)));
  return value;
}

/** Every rail of every device, and the devices that could not be asked. */
export function report(host: Host, warnMilliamperes: number) {
  const rails = [];
  const skipped = [];
  for (const device of host.devices()) {
    const name = device.name();
    let found: Rail[];
    try {
      found = host.rails(device.id());
    } catch (error) {
      skipped.push({ device: name, code: code(error) });
      continue;
    }
    for (const rail of found) {
      const drawn = number(rail.microamperes);
      rails.push({
        device: name,
        rail: rail.id,
        on: rail.on,
        millivolts: number(rail.millivolts),
        microamperes: drawn,
        high: drawn !== null && drawn > warnMilliamperes * 1000,
      });
    }
  }
  return { [KEY]: warnMilliamperes, rails, skipped };
}

/** The code of an error that a function of the host threw. */
export function code(error: unknown): string {
  const payload = (error as { payload?: { code?: string } }).payload;
  if (payload?.code === undefined) throw error;
  return payload.code;
}

function number(value: bigint | undefined): number | null {
  return value === undefined ? null : Number(value);
}
