// Taking a device, giving it back, and what can be done while somebody else holds it.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { endLease, giveBack, isMine, keep, take, waitFor, waiting } from "../api/leases.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { isAtLeast } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Loses } from "./device-state.tsx";

export function LeaseControls({ device }: { device: DevicesDevice }) {
  const mine = isMine(device);
  useEffect(() => {
    if (mine) keep(device);
  }, [mine, device.id]);
  const taking = useAction(() => take(device));
  const giving = useAction(() => giveBack(device));
  const joining = useAction(() => waitFor(device));
  const failure = (taking.failure.value ?? giving.failure.value ?? joining.failure.value)?.message;
  const isFree = !device.lease && !device.making_safe_since;
  const wait = waiting.value.get(device.id);
  return (
    <>
      {failure && <span class="fault" role="alert">{failure}</span>}
      {mine ? (
        <>
          <span class="small">Kept while this tab is open</span>
          <Button label="Give back" title="Others can take the device then. Its target is switched off." action={giving} />
        </>
      ) : isFree ? (
        <Button icon="lock" label="Take the device" title="Nobody else can drive the device until you give it back. It is kept while this tab is open." action={taking} />
      ) : (
        <>
          {wait ? (
            <>
              <span class="small" role="status">{wait.place === undefined ? "Waiting for the device" : wait.place === 1 ? "You are next" : `You are number ${wait.place} in line`}</span>
              <Button label="Leave the line" action={giving} />
            </>
          ) : (
            <Button icon="clock" label="Wait in line" title="You get the device when its holder gives it back. Keep this tab open." action={joining} />
          )}
          {isAtLeast("admin") && <TakeOver device={device} />}
        </>
      )}
    </>
  );
}

/** For administrators: a device that is held, or that does not become safe. */
function TakeOver({ device }: { device: DevicesDevice }) {
  const open = useSignal(false);
  const { lease, name } = device;
  const isStuck = !lease && device.making_safe_obstacle !== null;
  if (!lease && !isStuck) return null;
  return (
    <>
      <Button label="Take over" kind="danger" onClick={() => (open.value = true)} />
      {open.value && (
        <Confirm title={`Take over ${name}`} action="Take over" onClose={() => (open.value = false)} onConfirm={async () => {
          if (!lease) return take(device, true);
          await endLease(device);
          await waitFor(device);
        }}>
          {lease
            ? <p><Loses lease={lease} /> You get it when it is safe, after those who wait in line already.</p>
            : <p>The device has not become safe after its last lease: {device.making_safe_obstacle}. Its target may still have power.</p>}
        </Confirm>
      )}
    </>
  );
}
