// One plugin: whether it serves, what it may do in this organisation, what it wrote.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { type Answer, call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { PluginsPlugin } from "../api/schema.ts";
import { navigate } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, ConfirmByName } from "../ui/confirm.tsx";
import { Check } from "../ui/field.tsx";
import { Head } from "../ui/head.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded, Trouble } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { useDevices } from "./devices.tsx";
import { PluginLog } from "./plugin-log.tsx";
import { PluginRights } from "./plugin-rights.tsx";
import { PluginState } from "./plugin-state.tsx";

export const said = ({ notes }: Answer<"POST /plugins/{id}/approve">): void => notes.forEach((note) => toast(note));

export default function PluginPage({ id }: { id: string }) {
  const plugin = useGet(`plugins ${id}`, "GET /plugins/{id}", { path: { id } }, 3000);
  const devices = useDevices();
  const nameOf = (device: string): string => devices.data.value?.devices.find((one) => one.id === device)?.name ?? device;
  const known = plugin.data.value;
  return (
    <main class="page">
      <Head title={id} note={known && <><PluginState plugin={known} />{known.version && <span>version {known.version}</span>}{known.previous && <span>before: {known.previous}</span>}</>}>
        {known && <Orders plugin={known} />}
      </Head>
      <Loaded resource={plugin} rows={4}>
        {(found) => (
          <div class="sections">
            {found.reason && <p class="warning"><Icon name="warning" /> {found.reason}</p>}
            <PluginRights plugin={found} nameOf={nameOf} />
            <PluginLog id={id} />
          </div>
        )}
      </Loaded>
    </main>
  );
}

/** What operators order about a plugin. */
function Orders({ plugin: { id, state, previous } }: { plugin: PluginsPlugin }) {
  const [going, removing, data] = [useSignal(false), useSignal(false), useSignal(false)];
  const path = { path: { id } };
  const switching = useAction(async () => {
    said(await (state === "disabled" || state === "failed" ? call("POST /plugins/{id}/enable", path) : call("POST /plugins/{id}/disable", path)));
    refresh("plugins");
  });
  return (
    <>
      <Trouble failure={switching.failure.value} />
      <Button label={state === "disabled" || state === "failed" ? "Enable" : "Disable"} action={switching} />
      {previous && <Button label={`Back to ${previous}`} onClick={() => (going.value = true)} />}
      <Button icon="trash" label="Remove" kind="danger" onClick={() => (removing.value = true)} />
      {going.value && (
        <Confirm title={`Go back to ${previous}`} action="Go back" onClose={() => (going.value = false)} onConfirm={async () => {
          said(await call("POST /plugins/{id}/rollback", path));
          refresh("plugins");
        }}>
          <p>Calls that are under way end in this version; the next ones get version {previous}.</p>
        </Confirm>
      )}
      {removing.value && (
        <ConfirmByName title={`Remove ${id}`} name={id} action="Remove" onClose={() => (removing.value = false)} onConfirm={async () => {
          said(await call("DELETE /plugins/{id}", { ...path, query: { data: data.value } }));
          refresh("plugins");
          navigate("/plugins");
        }}>
          <p>Its endpoints and decoders are gone for all organisations of this server, and its rights with them.</p>
          <Check label="Also what it has kept, and its settings" of={data} />
        </ConfirmByName>
      )}
    </>
  );
}
