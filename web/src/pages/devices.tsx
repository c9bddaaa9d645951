// The devices of the organisation: what they are, whether they can be used, and by whom.
import { useGet } from "../api/resource.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { Head } from "../ui/head.tsx";
import { Icon } from "../ui/icon.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { several } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";
import { DeviceState, Lease } from "./device-state.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { RailSwitch, usePower } from "./power.tsx";

/** All devices, for lists and for whatever names them. */
export const useDevices = (everyMs = 0) => useGet("devices", "GET /bench/devices", undefined, everyMs);

const COLUMNS: readonly Column<DevicesDevice>[] = [
  { name: "Name", cell: (device) => <><a href={`/devices/${device.id}`}>{device.name}</a><span class="small">{device.board || "never seen"} · {device.transport}</span></> },
  { name: "State", cell: (device) => <DeviceState device={device} /> },
  { name: "Target power", cell: (device) => <Rail device={device} /> },
  { name: "Lease", cell: (device) => <Lease device={device} /> },
  { name: "Last seen", right: true, wideScreensOnly: true, cell: ({ online, last_active_at }) => <span class="quiet">{online ? "now" : <Ago iso={last_active_at} />}</span> },
  { name: "Open", right: true, unnamed: true, cell: ({ id, name }) => (
    <span class="tools">
      <a class="button" href={`/devices/${id}/console`} aria-label={`Console of ${name}`}><Icon name="console" />Console</a>
      <a class="button" href={`/devices/${id}/captures`} aria-label={`Captures of ${name}`}><Icon name="capture" />Captures</a>
    </span>
  ) },
];

function Rail({ device }: { device: DevicesDevice }) {
  const power = usePower(device);
  return <RailSwitch device={device} power={power} rail="internal" label={`5 V rail of ${device.name}`} />;
}

export default function DevicesPage() {
  const devices = useDevices(2000);
  const known = devices.data.value?.devices;
  const online = known?.filter((device) => device.online).length ?? 0;
  const held = known?.filter(({ lease }) => lease).length ?? 0;
  return (
    <main class="page">
      <Head title="Devices" note={known && `${known.length} on this server, ${online} online, ${held} in use`}>
        <Filter label="Filter devices" />
      </Head>
      <Loaded resource={devices} rows={4}>
        {({ devices: all }) => {
          if (all.length === 0) return <Empty icon="device" title="No device yet"><p>Plug a pod in and run <code>hostd device scan</code>, or try <code>hostd serve --demo</code>.</p></Empty>;
          const shown = all.filter(({ name, board, serial, state, lease }) => passes(`${name} ${board} ${serial} ${state} ${lease?.holder ?? ""}`));
          return (
            <>
              {shown.length > 0 ? <Table class="devices" label="Devices" rows={shown} columns={COLUMNS} keyOf={({ id }) => id} /> : <p class="quiet">None of {several(all.length, "device")} fits the filter.</p>}
              <FirstSteps devices={all} />
            </>
          );
        }}
      </Loaded>
    </main>
  );
}
