// The way to the first capture, for a bench that has none yet.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { navigate } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Trouble } from "../ui/states.tsx";
import { obstacle } from "./device-state.tsx";
import { RailSwitch, usePower } from "./power.tsx";

const RATE_MHZ = 1;
const SAMPLES = 1_000_000;

/** Nothing is shown once there is a capture, or where no device is there to make one. */
export function FirstSteps({ devices }: { devices: readonly DevicesDevice[] }) {
  const any = useGet("captures any", "GET /captures", { query: { limit: 1 } }, 5000);
  const gone = useSignal(false);
  const device = devices.find(({ online }) => online);
  if (!device || gone.value || any.data.value?.captures.length !== 0) return null;
  return <Steps device={device} onClose={() => (gone.value = true)} />;
}

function Steps({ device, onClose }: { device: DevicesDevice; onClose: () => void }) {
  const power = usePower(device);
  const capturing = useAction(async () => {
    const { profile } = await call("GET /bench/devices/{id}/wiring/profile", { path: { id: device.id } });
    const lane = (name: string, usual: number): number => (typeof profile[name] === "number" ? profile[name] : usual);
    const setting = { device_id: device.id, samples: SAMPLES, sample_rate_mhz: RATE_MHZ, voltage_mv: profile["la_mv"] === 1800 ? 1800 : 3300, name: "first capture" } as const;
    const { capture_id } = await call("POST /analyzer/captures/start", { body: { ...setting, scl: lane("i2c_scl", 2), sda: lane("i2c_sda", 1) } });
    refresh("captures");
    navigate(`/captures/${capture_id}`);
  });
  const isOn = power.data.value?.internal.on === true;
  return (
    <section class="card first-steps" aria-labelledby="first-steps">
      <div class="card-head">
        <h2 id="first-steps">Three steps to the first capture</h2>
        <Button icon="cross" label="Not now" hidden onClick={onClose} />
      </div>
      <ol>
        <Step number={1} isDone={isOn} title="Switch the target on">
          <RailSwitch device={device} power={power} rail="internal" label={`Power of the target of ${device.name}`} />
        </Step>
        <Step number={2} isDone={false} title="See what it says">
          <a class="button" href={`/devices/${device.id}/console`}><Icon name="console" />Open the console</a>
        </Step>
        <Step number={3} isDone={false} title="Capture its I²C bus, decoded">
          <Button icon="capture" label="Capture one second" kind={isOn ? "main" : ""} action={capturing} disabled={obstacle(device) !== undefined} title={obstacle(device)} />
        </Step>
      </ol>
      <Trouble failure={capturing.failure.value} />
    </section>
  );
}

const Step = ({ number, title, isDone, children }: { number: number; title: string; isDone: boolean; children: ComponentChildren }) => (
  <li class={isDone ? "done" : ""}>
    <span class="step-number">{isDone ? <Icon name="check" /> : number}</span>
    <span class="grow">{title}{isDone && <span class="hidden">, done</span>}</span>
    {children}
  </li>
);
