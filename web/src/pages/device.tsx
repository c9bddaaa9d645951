// One device: a tab for each thing that is done with it.
import type { ComponentChildren } from "preact";
import { useGet } from "../api/resource.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { ConsolePanel } from "../console/panel.tsx";
import { Head } from "../ui/head.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { LinkTabs } from "../ui/tabs.tsx";
import { CaptureList } from "./capture-list.tsx";
import { LeaseControls } from "./device-lease.tsx";
import { DeviceState, Lease } from "./device-state.tsx";
import { Overview } from "./device-overview.tsx";
import { FlashTab } from "./flash.tsx";
import { WiringTab } from "./wiring.tsx";

interface DeviceTab {
  readonly id: string;
  readonly name: string;
  readonly show: (device: DevicesDevice) => ComponentChildren;
}

/** A new tab is a file and a line here. */
const TABS: readonly DeviceTab[] = [
  { id: "overview", name: "Overview", show: (device) => <Overview device={device} /> },
  { id: "console", name: "Console", show: (device) => <ConsolePanel key={device.id} device={device} /> },
  { id: "captures", name: "Captures", show: (device) => <CaptureList device={device} /> },
  { id: "flash", name: "Flash", show: (device) => <FlashTab key={device.id} device={device} /> },
  { id: "wiring", name: "Wiring", show: (device) => <WiringTab key={device.id} device={device} /> },
];

const address = (id: string, tab: string): string => (tab === TABS[0]!.id ? `/devices/${id}` : `/devices/${id}/${tab}`);

export default function DevicePage({ id, tab }: { id: string; tab: string }) {
  const device = useGet(`device ${id}`, "GET /bench/devices/{id}", { path: { id } }, 2000);
  const known = device.data.value;
  const shown = TABS.find((one) => one.id === tab);
  return (
    <main class="page device">
      <Head title={known?.name ?? "Device"} note={known && <><DeviceState device={known} />{known.board && <span>{known.board}</span>}{known.firmware_version && <span>firmware {known.firmware_version}</span>}<Lease device={known} /></>}>{known && <LeaseControls key={id} device={known} />}</Head>
      <Loaded resource={device}>
        {(data) => (
          <>
            <LinkTabs label="Device" tabs={TABS.map(({ id: one, name }) => ({ to: address(id, one), name }))} current={address(id, tab)} />
            {shown ? shown.show(data) : <Empty icon="device" title="No such tab"><p><a href={`/devices/${id}`}>Back to the overview</a></p></Empty>}
          </>
        )}
      </Loaded>
    </main>
  );
}
