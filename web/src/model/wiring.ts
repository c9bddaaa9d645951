// A wiring profile as a person sees it: fourteen channels, each with one use. docs/benches.md says what the members mean. Pure.
import type { Operations } from "../api/schema.ts";

export type Profile = Operations["PUT /bench/devices/{id}/wiring"]["body"];
export type Signal = NonNullable<Profile["signals"]>[number];
export type Direction = NonNullable<Signal["direction"]>;

export const CHANNELS = 14;

/** Which member of a profile names the channel of a role. */
export const ROLES = {
  uart_rx: "UART RX, from the target",
  uart_tx: "UART TX, to the target",
  i2c_scl: "I²C SCL",
  i2c_sda: "I²C SDA",
  spi_sclk: "SPI SCLK",
  spi_mosi: "SPI MOSI",
  spi_miso: "SPI MISO",
  spi_cs: "SPI CS",
  swd_swclk: "SWD SWCLK",
  swd_swdio: "SWD SWDIO",
} as const;
export type Role = keyof typeof ROLES;

export const isRole = (text: string): text is Role => text in ROLES;

/** What one channel is wired to. */
export type Use = { readonly kind: "none" } | { readonly kind: "role"; readonly role: Role } | { readonly kind: "signal"; readonly signal: Omit<Signal, "la"> };

export const FREE: Use = { kind: "none" };

/** The uses of LA1 to LA14. */
export function usesOf(profile: Profile): readonly Use[] {
  return Array.from({ length: CHANNELS }, (_, i): Use => {
    const role = (Object.keys(ROLES) as Role[]).find((one) => profile[one] === i + 1);
    if (role) return { kind: "role", role };
    const signal = profile.signals?.find(({ la }) => la === i + 1);
    if (!signal) return FREE;
    const { la: _la, ...rest } = signal;
    return { kind: "signal", signal: rest };
  });
}

/** `profile` with other uses: roles that no channel has are not wired. */
export function wired(profile: Profile, uses: readonly Use[]): Profile {
  const roles = Object.fromEntries((Object.keys(ROLES) as Role[]).map((role) => {
    const at = uses.findIndex((use) => use.kind === "role" && use.role === role);
    return [role, at < 0 ? null : at + 1];
  }));
  return { ...profile, ...roles, signals: uses.flatMap((use, i) => (use.kind === "signal" ? [{ ...use.signal, la: i + 1 }] : [])) };
}

/** Gives a channel another use. A role belongs to one channel, so it leaves the one that had it. */
export function rewired(uses: readonly Use[], channel: number, use: Use): readonly Use[] {
  return uses.map((one, i) => {
    if (i === channel) return use;
    return use.kind === "role" && one.kind === "role" && one.role === use.role ? FREE : one;
  });
}

/** Whether two profiles say the same, in whatever order their members stand. */
export const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (one && typeof one === "object" && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort(([x], [y]) => (x < y ? -1 : 1))) : one));
