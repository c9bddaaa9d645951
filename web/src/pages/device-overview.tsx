// What a device is and can do, and the power of its target.
import type { DevicesDevice } from "../api/schema.ts";
import { Badge } from "../ui/badge.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Trouble } from "../ui/states.tsx";
import { count } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";
import { obstacle } from "./device-state.tsx";
import { RailSwitch, usePower } from "./power.tsx";
import { RailHistory } from "./rail-history.tsx";

/** What capabilities are called by people; others are shown as they are. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  adc: "Analog input",
  dac: "Analog output",
  ac_dac: "Waveforms",
  can: "CAN bus",
  spi: "SPI bus",
  i2c_sensor: "I²C sensors",
  uart: "Console",
  cmsis_dap: "Flashing and debugging",
  ota: "Updates over the network",
  power_profile: "Power profile",
  la_channels: "Logic channels",
  la_max_samples: "Samples of a capture",
  capture_trigger: "Trigger",
  capture_pre_samples: "Samples before the trigger",
  trigger_level: "Trigger on a level",
  trigger_pattern: "Trigger on a pattern",
  trigger_pulse: "Trigger on a pulse",
};

export function Overview({ device }: { device: DevicesDevice }) {
  const power = usePower(device);
  const held = obstacle(device);
  return (
    <div class="cards">
      <section class="card" aria-labelledby="power">
        <h2 id="power">Target power</h2>
        <Trouble failure={power.failure.value} again={() => void power.reload()} />
        <dl class="values">
          <dt>Internal 5 V</dt><dd><RailSwitch device={device} power={power} rail="internal" label="Internal 5 V" /></dd>
          <dt>External supply</dt><dd><RailSwitch device={device} power={power} rail="external" label="External supply" /></dd>
        </dl>
        {held && <p class="small">{held}{device.online && " It can be watched, not switched."}</p>}
      </section>
      <section class="card" aria-labelledby="can">
        <h2 id="can">What it can do</h2>
        <ul class="can">
          {Object.entries(device.capabilities).map(([name, value]) => <li key={name}><Capability value={value} /> {CAPABILITIES[name] ?? name.replaceAll("_", " ")}</li>)}
        </ul>
        {device.missing_parts.length > 0 && (
          <dl class="values">{device.missing_parts.map(({ part, reason }) => <><dt>{part}</dt><dd>{reason}</dd></>)}</dl>
        )}
      </section>
      <section class="card" aria-labelledby="about">
        <h2 id="about">About</h2>
        <dl class="values">
          <dt>Board</dt><dd>{device.board || "never seen"}</dd>
          <dt>Firmware</dt><dd>{device.firmware_version || "–"}</dd>
          <dt>Serial number</dt><dd class="mono">{device.serial}</dd>
          <dt>Connected by</dt><dd>{device.transport}</dd>
          <dt>Last seen</dt><dd>{device.online ? "now" : <Ago iso={device.last_active_at} />}</dd>
          <dt>Added</dt><dd><Ago iso={device.created_at} /></dd>
          <dt>Id</dt><dd class="mono">{device.id} <CopyButton what="Id" text={device.id} /></dd>
        </dl>
      </section>
      <RailHistory key={device.id} device={device} />
    </div>
  );
}

function Capability({ value }: { value: boolean | number | null }) {
  if (typeof value === "number") return <Badge tone="ok">{count(value)}</Badge>;
  if (value === null) return <Badge tone="quiet">unknown</Badge>;
  return value ? <Badge tone="ok">yes</Badge> : <Badge tone="quiet">no</Badge>;
}
