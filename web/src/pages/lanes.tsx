// The logic channels of a device by the names that its wiring gives them, and a way to choose some.
/** What `GET /bench/devices/{id}/wiring/profile` has under `profile`; docs/benches.md says what each member means. */
export type WiringProfile = Readonly<Record<string, unknown>>;

export const LANES = 14;

/** Which members of a wiring profile name a channel, and what they call it. */
const ROLES = {
  uart_rx: "UART RX",
  uart_tx: "UART TX",
  i2c_scl: "SCL",
  i2c_sda: "SDA",
  spi_sclk: "SCLK",
  spi_mosi: "MOSI",
  spi_miso: "MISO",
  spi_cs: "CS",
  swd_swclk: "SWCLK",
  swd_swdio: "SWDIO",
} as const;

/** `LA3 UART RX`, for LA1 to LA14. */
export function laneNames(profile: WiringProfile | undefined): readonly string[] {
  return Array.from({ length: LANES }, (_, i) => {
    const roles = Object.entries(ROLES).flatMap(([member, role]) => (profile?.[member] === i + 1 ? [role] : []));
    return [`LA${i + 1}`, ...roles].join(" ");
  });
}

export const laneOptions = (names: readonly string[]) => names.map((name, i) => ({ value: String(i + 1), name }));

/** None chosen is all. */
export function Lanes({ names, chosen, onChange }: { names: readonly string[]; chosen: ReadonlySet<number>; onChange: (chosen: ReadonlySet<number>) => void }) {
  const turn = (lane: number): void => {
    const next = new Set(chosen);
    if (!next.delete(lane)) next.add(lane);
    onChange(next);
  };
  return (
    <fieldset class="lanes">
      <legend>Lanes <span class="small">{chosen.size === 0 ? "all of them" : `${chosen.size} of ${names.length}`}</span></legend>
      {names.map((name, i) => (
        <label key={name} class="check"><input type="checkbox" checked={chosen.has(i + 1)} onChange={() => turn(i + 1)} /> {name}</label>
      ))}
    </fieldset>
  );
}
