// The newest flash of a device: its phases while it runs, and how it ended.
import { useRef } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import type { DevicesDevice, DevicesFlash } from "../api/schema.ts";
import { adviceFor, flashSteps, hexAddress, isFlashing } from "../model/flash.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Progress } from "../ui/progress.tsx";
import { Trouble } from "../ui/states.tsx";
import { Steps } from "../ui/steps.tsx";
import { bytes } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";

export const Outcome = ({ flash: { phase } }: { flash: DevicesFlash }) =>
  phase === "done" ? <Badge tone="ok">Flashed</Badge> : phase === "failed" ? <Badge tone="bad">Failed</Badge> : phase === "cancelled" ? <Badge tone="quiet">Cancelled</Badge> : <Badge tone="info">Under way</Badge>;

export function FlashRun({ device, flash, onChanged }: { device: DevicesDevice; flash: DevicesFlash; onChanged: () => Promise<void> }) {
  // A flash that has failed does not say in which phase: the last one that was seen is it.
  const reached = useRef<string | undefined>(undefined);
  if (isFlashing(flash)) reached.current = flash.phase;
  const cancelling = useAction(async () => {
    await call("POST /bench/devices/{id}/flash/{flash_id}/cancel", { path: { id: device.id, flash_id: flash.id } });
    await onChanged();
  });
  const running = isFlashing(flash);
  return (
    <section class="card" aria-labelledby="flash-run">
      <h2 id="flash-run" class="with-badge">{running ? "Under way" : "Last flash"} {!running && <Outcome flash={flash} />}</h2>
      <div class="stack">
        <p><b>{flash.artifact.name}</b> <span class="small">{bytes(flash.artifact.size_bytes)} · <Ago iso={flash.created_at} /></span></p>
        {(flash.phase === "done" || reached.current) && <Steps label="Phases" steps={flashSteps(flash, reached.current)} />}
        {running && (
          <>
            <Progress label="Of the whole flash" share={flash.percent / 100} />
            <div class="sheet-end">
              {flash.phase_total_bytes > 0 && <p class="small number grow">{bytes(flash.phase_bytes)} of {bytes(flash.phase_total_bytes)}</p>}
              <Button label="Cancel" kind="danger" action={cancelling} />
            </div>
          </>
        )}
        <Trouble failure={cancelling.failure.value} />
        {flash.phase === "failed" && <Failed flash={flash} />}
        {flash.phase === "done" && <Done device={device} flash={flash} />}
        {flash.output && <details><summary>What it did</summary><pre class="output">{flash.output}</pre></details>}
      </div>
    </section>
  );
}

const Failed = ({ flash: { error, code } }: { flash: DevicesFlash }) => (
  <div class="trouble" role="alert">
    <Icon name="warning" />
    <div>
      <p>{error ? error.charAt(0).toUpperCase() + error.slice(1) : "It failed."}</p>
      {adviceFor(code) && <p>{adviceFor(code)}</p>}
      <p class="small">{code}</p>
    </div>
  </div>
);

function Done({ device, flash }: { device: DevicesDevice; flash: DevicesFlash }) {
  return (
    <>
      <dl class="values">
        <dt>Chip</dt><dd>{flash.chip ?? flash.target}</dd>
        <dt>Programmed</dt><dd>{bytes(flash.bytes ?? 0)} in {((flash.duration_ms ?? 0) / 1000).toFixed(1)} s</dd>
        {flash.ranges?.slice(0, 2).map(({ address, crc32 }) => <><dt>At</dt><dd class="mono">{hexAddress(address)}, CRC-32 {crc32}</dd></>)}
        {flash.skipped && flash.skipped.length > 0 && <><dt>Left out</dt><dd>{flash.skipped.map(({ bytes: long, family }) => `${bytes(long)} for ${family}`).join(", ")}</dd></>}
      </dl>
      <div class="tools">
        <a class="button" href={`/devices/${device.id}/console`}><Icon name="console" />Open the console</a>
        <a class="button" href={`/devices/${device.id}/captures?sheet=start`}><Icon name="capture" />Start a capture</a>
      </div>
    </>
  );
}
