// The members of a wiring profile that are about no channel.
import type { Profile } from "../model/wiring.ts";
import { Check, Choice, Field } from "../ui/field.tsx";

const BAUDS = [9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600, 1_000_000];

export function WiringTarget({ profile, wrong, onChange }: { profile: Profile; wrong: Readonly<Record<string, string>>; onChange: (members: Partial<Profile>) => void }) {
  const baud = profile.uart_baud ?? 115_200;
  const bauds = BAUDS.includes(baud) ? BAUDS : [...BAUDS, baud].sort((a, b) => a - b);
  return (
    <div class="stack">
      <Field label="Chip" value={profile.swd_target ?? ""} onInput={(text) => onChange({ swd_target: text })} maxLength={128} placeholder="STM32F030R8" hint="As it is flashed: a chip, or an OpenOCD configuration." wrong={wrong["swd_target"]} />
      <div class="columns">
        <Choice label="Supplied by" value={String(profile.efuse ?? 1)} onChange={(text) => onChange({ efuse: Number(text) as 1 | 2 })} options={[{ value: "1", name: "Rail 1, internal 5 V" }, { value: "2", name: "Rail 2, external supply" }]} wrong={wrong["efuse"]} />
        <Choice label="Levels" value={String(profile.la_mv ?? 3300)} onChange={(text) => onChange({ la_mv: Number(text) as 1800 | 3300 })} options={[{ value: "3300", name: "3.3 V" }, { value: "1800", name: "1.8 V" }]} wrong={wrong["la_mv"]} />
      </div>
      <div class="columns">
        <Choice label="UART" value={String(baud)} onChange={(text) => onChange({ uart_baud: Number(text) })} options={bauds.map((one) => ({ value: String(one), name: `${one.toLocaleString("en")} baud` }))} wrong={wrong["uart_baud"]} />
        <Field label="I²C address" value={String(profile.i2c_addr ?? "")} onInput={(text) => onChange({ i2c_addr: text })} placeholder="0x76" wrong={wrong["i2c_addr"]} />
      </div>
      <Check label="The reset line NRST is wired" on={profile.swd_nreset === true} onChange={(on) => onChange({ swd_nreset: on })} />
    </div>
  );
}
