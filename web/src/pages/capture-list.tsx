// A list of captures, newest first: of all devices, or of one.
import { call } from "../api/client.ts";
import { usePages } from "../api/pages.ts";
import type { CapturesCapture, DevicesDevice } from "../api/schema.ts";
import { duration } from "../model/axis.ts";
import { setQuery, query } from "../router.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { More, type Column, Table } from "../ui/table.tsx";
import { count, several } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";
import { ImportSheet } from "./capture-import.tsx";
import { StartSheet } from "./capture-start.tsx";
import { useDevices } from "./devices.tsx";

export const STATES: Readonly<Record<CapturesCapture["status"], readonly [word: string, tone: Tone]>> = {
  pending: ["Waiting", "quiet"],
  armed: ["Armed", "info"],
  running: ["Running", "info"],
  done: ["Done", "ok"],
  failed: ["Failed", "bad"],
  timed_out: ["Timed out", "warn"],
  cancelled: ["Cancelled", "quiet"],
};

/** Captures of jobs are called after the id of their job, which links beside them name better. */
export const titleOf = ({ name, kind, id, job }: Pick<CapturesCapture, "name" | "kind" | "id" | "job">): string =>
  (job && name?.startsWith(`${job.id} `) ? name.slice(job.id.length + 1) : name) || `${kind} ${id.slice(-6)}`;

/** The channel with the most samples a second, whose axis the capture is shown on. */
export const fastest = ({ channels }: Pick<CapturesCapture, "channels">) =>
  channels.reduce((best, one) => (one.sample_rate_hz > (best?.sample_rate_hz ?? 0) ? one : best), channels[0]);

export function CaptureList({ device }: { device?: DevicesDevice | undefined }) {
  const captures = usePages(`captures ${device?.id}`, async (cursor, signal) => {
    const { captures: rows, next_cursor: next } = await call("GET /captures", { query: { device_id: device?.id, cursor } }, signal);
    return { rows, next };
  }, 3000);
  const devices = useDevices();
  const nameOf = (id: string): string => devices.data.value?.devices.find((one) => one.id === id)?.name ?? id;
  const columns: readonly Column<CapturesCapture>[] = [
    { name: "Capture", cell: (capture) => <><a href={`/captures/${capture.id}`}>{titleOf(capture)}</a>{capture.pinned && <span title="Pinned: it is kept"><Icon name="pin" /></span>}</> },
    { name: "State", cell: ({ status, error }) => <Badge tone={STATES[status][1]} title={error}>{STATES[status][0]}</Badge> },
    ...(device ? [] : [{ name: "Device", cell: (capture: CapturesCapture) => <a href={`/devices/${capture.device_id}`}>{nameOf(capture.device_id)}</a> }]),
    { name: "Lanes", wideScreensOnly: true, cell: ({ channels }) => <span class="quiet">{channels.length > 3 ? `${channels.length} lanes` : channels.map(({ name, label }) => label ?? name).join(", ")}</span> },
    { name: "Length", right: true, cell: (capture) => <span class="number">{lengthOf(capture)}</span> },
    { name: "Samples", right: true, wideScreensOnly: true, cell: (capture) => <span class="number">{count(fastest(capture)?.samples ?? 0)}</span> },
    { name: "Made", right: true, cell: ({ created_at }) => <Ago iso={created_at} /> },
  ];
  return (
    <>
      <div class="bar-above">
        <Filter label="Filter captures" />
        <span class="grow" />
        <Tools device={device} />
      </div>
      <Loaded resource={captures.first} rows={5}>
        {() => {
          const all = captures.rows;
          if (all.length === 0) return <Empty icon="capture" title="No captures yet"><p>Start one, or import a sigrok, VCD, CSV, WAV or Saleae file.</p></Empty>;
          const shown = all.filter((capture) => passes(`${titleOf(capture)} ${capture.kind} ${STATES[capture.status][0]} ${nameOf(capture.device_id)} ${capture.channels.map(({ name, label }) => `${name} ${label ?? ""}`).join(" ")}`));
          return (
            <>
              {shown.length > 0 ? <Table label="Captures" rows={shown} columns={columns} keyOf={({ id }) => id} /> : <p class="quiet">None of {several(all.length, "capture")} fits the filter.</p>}
              <More pages={captures} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function lengthOf(capture: CapturesCapture): string {
  const channel = fastest(capture);
  return channel ? duration(channel.samples / channel.sample_rate_hz) : "–";
}

/** What makes captures: the sheet that is open is in the address, so that other pages can lead to it. */
function Tools({ device }: { device: DevicesDevice | undefined }) {
  const sheet = query.value.get("sheet");
  const close = (): void => setQuery({ sheet: undefined });
  return (
    <>
      {device?.online && <a class="button" href={`/captures/live?device=${device.id}`}><Icon name="live" />Watch live</a>}
      <Button icon="upload" label="Import" onClick={() => setQuery({ sheet: "import" })} />
      <Button icon="plus" label="Start a capture" kind="main" onClick={() => setQuery({ sheet: "start" })} />
      {sheet === "start" && <StartSheet device={device?.id} onClose={close} />}
      {sheet === "import" && <ImportSheet device={device?.id} onClose={close} />}
    </>
  );
}
