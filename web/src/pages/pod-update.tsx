// The firmware of the pod itself: what it runs, and another one.
import { useSignal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { call, url } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { DevicesDevice, UpdatesUpdate } from "../api/schema.ts";
import { isAtLeast, isSurely } from "../api/session.ts";
import { useUpload } from "../api/upload.ts";
import { isUpdating, updateSteps } from "../model/flash.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { FileDrop } from "../ui/drop.tsx";
import { Field } from "../ui/field.tsx";
import { Progress, Sent } from "../ui/progress.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { Loaded, Trouble } from "../ui/states.tsx";
import { Steps } from "../ui/steps.tsx";
import { Ago } from "../ui/when.tsx";
import { obstacle } from "./device-state.tsx";

export function PodUpdate({ device }: { device: DevicesDevice }) {
  const admin = isAtLeast("admin");
  const open = useSignal(false);
  const [running, run] = useState(false);
  const reads = isSurely("admin");
  const update = useResource(`update ${device.id} ${reads}`, async (signal) => {
    if (!reads) return undefined;
    const found = await call("GET /bench/devices/{id}/ota", { path: { id: device.id } }, signal);
    run(isUpdating(found));
    return found;
  }, running ? 500 : 5000, running);
  const why = device.capabilities["ota"] !== true ? "This device takes no updates over the network." : admin ? obstacle(device) : "Updating a pod takes an administrator.";
  return (
    <section class="card" aria-labelledby="pod">
      <h2 id="pod">Firmware of the pod</h2>
      <div class="stack">
        <dl class="values">
          <dt>Runs</dt><dd>{device.firmware_version || "–"}</dd>
          <dt>Board</dt><dd>{device.board || "never seen"}</dd>
        </dl>
        {admin && <Loaded resource={update} rows={1}>{(known) => (known && known.phase !== "idle" ? <Shown device={device} update={known} onChanged={() => update.reload()} /> : null)}</Loaded>}
        <div class="sheet-end">
          {why && <p class="small grow">{why}</p>}
          <Button icon="upload" label="Update the pod" disabled={why !== undefined || running} onClick={() => (open.value = true)} />
        </div>
      </div>
      {open.value && <UpdateSheet device={device} onBegun={() => void update.reload()} onClose={() => (open.value = false)} />}
    </section>
  );
}

function Shown({ device, update, onChanged }: { device: DevicesDevice; update: UpdatesUpdate; onChanged: () => Promise<void> }) {
  const reached = useRef<string | undefined>(undefined);
  const running = isUpdating(update);
  if (running) reached.current = update.phase;
  const aborting = useAction(async () => {
    await call("POST /bench/devices/{id}/ota/abort", { path: { id: device.id } });
    await onChanged();
  });
  const failure = aborting.failure.value;
  return (
    <>
      <p class="with-badge">
        {running ? <Badge tone="info">Under way</Badge> : update.phase === "done" ? <Badge tone="ok">Updated</Badge> : update.phase === "aborted" ? <Badge tone="quiet">Given up</Badge> : <Badge tone="bad">Failed</Badge>}
        <span>{[update.version_before, update.version_after].filter(Boolean).join(" → ")}</span>
        <span class="small"><Ago iso={update.finished_at ?? update.created_at} /></span>
      </p>
      {(update.phase === "done" || reached.current) && <Steps label="Phases of the update" steps={updateSteps(update, reached.current)} />}
      {running && <Progress label="Of the whole update" share={update.percent / 100} />}
      {update.error && <p class="fault" role="alert">{update.error}</p>}
      <Trouble failure={failure} />
      {running && <div class="sheet-end"><p class="small grow">Leave the pod connected and powered.</p><Button label="Give it up" kind="danger" action={aborting} /></div>}
    </>
  );
}

function UpdateSheet({ device, onBegun, onClose }: { device: DevicesDevice; onBegun: () => void; onClose: () => void }) {
  const file = useSignal<File | undefined>(undefined);
  const [version, signature] = [useSignal(""), useSignal("")];
  const sending = useUpload();
  const updating = useAction(async () => {
    const form = new FormData();
    if (version.value.trim()) form.set("version", version.value.trim());
    if (signature.value.trim()) form.set("signature", signature.value.trim());
    form.set("image", file.peek()!);
    await sending.send<UpdatesUpdate>(url("POST /bench/devices/{id}/ota", { id: device.id }), form);
    onBegun();
  });
  const wrong = updating.failure.value?.fields ?? {};
  return (
    <FormSheet title={`Update the pod ${device.name}`} submit="Update" action={updating} disabled={!file.value} onClose={onClose}>
      <p>While it is updated, the device takes no captures and no flashes. It restarts at the end.</p>
      <FileDrop label="Choose an image" of={file}>the pod's image, at most 8 MiB</FileDrop>
      <Field label="Version" of={version} maxLength={64} placeholder="3.10.0" hint="What the pod must say after the update; empty: anything." wrong={wrong["version"]} />
      <Field label="Signature" of={signature} maxLength={172} hint="Only for pods that want one: base64url of 128 bytes." wrong={wrong["signature"]} />
      <Sent by={sending} />
    </FormSheet>
  );
}
