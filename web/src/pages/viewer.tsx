// A capture: its state until it is done, then its samples.
import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh, useResource } from "../api/resource.ts";
import { type Answer } from "../api/client.ts";
import { navigate, query } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmByName } from "../ui/confirm.tsx";
import { Head } from "../ui/head.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { Ago } from "../ui/when.tsx";
import { restore } from "../viewer/address.ts";
import { ChannelPanel } from "../viewer/channel-panel.tsx";
import { JobPanel } from "../viewer/job-panel.tsx";
import { Lookups } from "../viewer/lookups.ts";
import { Shown } from "../viewer/shown.tsx";
import { StoredSource, readCapture } from "../viewer/sources.ts";
import { Viewer } from "../viewer/viewer.ts";
import { STATES, titleOf } from "./capture-list.tsx";

type Capture = Answer<"GET /capture/{id}">;

const isOver = ({ status }: Capture): boolean => !["pending", "armed", "running"].includes(status);

export default function ViewerPage({ id }: { id: string }) {
  const [settled, settle] = useState(false);
  const capture = useResource(`capture ${id}`, async (signal) => {
    const found = await readCapture(id, signal);
    if (isOver(found)) settle(true);
    return found;
  }, settled ? 0 : 1000);
  const known = capture.data.value;
  if (known?.status === "done" && known.channels.length > 0) return <Stored key={`${id} ${known.channels.map(({ label }) => label).join(" ")}`} capture={known} onChanged={() => capture.reload()} />;
  return (
    <main class="page">
      <Head title={known ? titleOf(known) : "Capture"} note={known && <Badge tone={STATES[known.status][1]}>{STATES[known.status][0]}</Badge>} />
      <Loaded resource={capture} rows={8}>{(found) => <Unfinished capture={found} />}</Loaded>
    </main>
  );
}

function Unfinished({ capture }: { capture: Capture }) {
  const cancelling = useAction(() => call("POST /capture/{id}/cancel", { path: { id: capture.id } }));
  if (capture.status === "done") return <Empty icon="capture" title="No samples"><p>This capture holds values, but no channel with samples.</p></Empty>;
  if (isOver(capture)) return <Empty icon="warning" title={STATES[capture.status][0]}><p>{capture.error ?? "It has no samples."}</p><a class="button" href="/captures?sheet=start">Start another one</a></Empty>;
  const { trigger } = capture;
  return (
    <Empty icon="clock" title={capture.status === "armed" ? "Armed: it waits for its trigger" : capture.status === "running" ? "It is being captured" : "It waits for the device"}>
      {trigger && <p class="mono">{Object.entries(trigger).filter(([, value]) => value !== null).map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`).join(", ")}</p>}
      <div class="tools">
        <a class="button" href={`/captures/live?device=${capture.device_id}`}>Watch live</a>
        <Button label="Cancel" kind="danger" action={cancelling} />
      </div>
    </Empty>
  );
}

/** What a capture of a bus decodes by itself. */
function usualDecoders({ kind, channels }: Capture): readonly string[] {
  const [scl, sda] = channels;
  return kind === "i2c" && scl && sda ? [`i2c:scl=${scl.name},sda=${sda.name}`] : [];
}

function Stored({ capture, onChanged }: { capture: Capture; onChanged: () => Promise<void> }) {
  const [viewer, open] = useState<Viewer | undefined>();
  const removing = useSignal(false);
  const pinning = useAction(async () => {
    await call("PATCH /capture/{id}", { path: { id: capture.id }, body: { pinned: !capture.pinned } });
    await onChanged();
    toast(capture.pinned ? "No longer pinned" : "Pinned: it is kept until this is taken back");
  });
  useEffect(() => {
    const made = new Viewer(capture.id, new StoredSource(capture), new Lookups(capture), capture.trigger_sample);
    made.markers.value = capture.markers ?? [];
    restore(made, query.peek(), usualDecoders(capture));
    open(made);
    return () => made.close();
  }, [capture.id]);
  if (!viewer) return <main class="page"><Head title={titleOf(capture)} /></main>;
  return (
    <>
      <Shown viewer={viewer} title={titleOf(capture)} keepsAddress panels={
        <>
          {capture.job && <JobPanel viewer={viewer} job={capture.job.id} step={capture.job.step} />}
          <ChannelPanel capture={capture.id} channels={capture.channels} onChanged={onChanged} />
        </>
      } note={<><Badge tone="ok">Done</Badge><Ago iso={capture.created_at} />{capture.job && <a href={`/jobs/${capture.job.id}`}>of a job</a>}</>} actions={
        <>
          <Button icon="pin" label={capture.pinned ? "Pinned" : "Pin"} hidden pressed={capture.pinned} action={pinning} />
          <Button icon="trash" label="Delete" hidden disabled={capture.pinned} title={capture.pinned ? "Pinned captures are kept" : "Delete"} onClick={() => (removing.value = true)} />
        </>
      } />
      {removing.value && (
        <ConfirmByName title="Delete this capture" name={titleOf(capture)} onClose={() => (removing.value = false)} onConfirm={async () => {
          await call("DELETE /capture/{id}", { path: { id: capture.id } });
          refresh("captures");
          navigate("/captures");
        }}>
          <p>Its samples and markers are gone for everybody, and links to it lead nowhere.</p>
        </ConfirmByName>
      )}
    </>
  );
}
