// Who holds which device, until when.
import { useSignal } from "@preact/signals";
import { endLease } from "../api/leases.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { Lease, Loses } from "./device-state.tsx";
import { useDevices } from "./devices.tsx";

const isHeld = ({ lease, making_safe_since }: DevicesDevice): boolean => lease !== null || making_safe_since !== null;

export function Leases() {
  const devices = useDevices(2000);
  const ending = useSignal<DevicesDevice | undefined>(undefined);
  const columns: readonly Column<DevicesDevice>[] = [
    { name: "Device", cell: ({ id, name }) => <a href={`/devices/${id}`}>{name}</a> },
    { name: "Held by", wide: true, cell: (device) => <><Lease device={device} />{device.making_safe_obstacle && <span class="small"> {device.making_safe_obstacle}</span>}</> },
    { name: "Until", right: true, named: true, cell: ({ lease }) => (lease ? new Date(lease.expires_at).toLocaleTimeString() : "–") },
    { name: "End", right: true, unnamed: true, cell: (device) => <span class="tools"><Button label="End" title={`End the lease of ${device.name}`} kind="danger" disabled={!device.lease} onClick={() => (ending.value = device)} /></span> },
  ];
  return (
    <Loaded resource={devices} rows={3}>
      {({ devices: all }) => {
        const held = all.filter(isHeld);
        return (
          <>
            {held.length === 0 ? <Empty icon="lock" title="Nobody holds a device"><p>People, jobs and CI runs hold a device while they use it. Who holds it, and how long still, appears here.</p></Empty> : <Table label="Leases" rows={held} columns={columns} keyOf={({ id }) => id} />}
            {ending.value?.lease && (
              <Confirm title={`End the lease of ${ending.value.name}`} action="End the lease" onClose={() => (ending.value = undefined)} onConfirm={async () => {
                const { name } = ending.value!;
                await endLease(ending.value!);
                toast(`The lease of ${name} has ended`);
              }}>
                <p><Loses lease={ending.value.lease} /></p>
              </Confirm>
            )}
          </>
        );
      }}
    </Loaded>
  );
}
