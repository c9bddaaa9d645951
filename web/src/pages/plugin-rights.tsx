// What a plugin may do in this organisation, and its settings here.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh } from "../api/resource.ts";
import type { PluginsPlugin } from "../api/schema.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Check, Text } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { several } from "../ui/time.ts";
import { useDevices } from "./devices.tsx";
import { ownGrant } from "./plugin-state.tsx";
import { said } from "./plugin.tsx";
import { Granted } from "./plugins.tsx";

export function PluginRights({ plugin, nameOf }: { plugin: PluginsPlugin; nameOf: (device: string) => string }) {
  const open = useSignal<"" | "allow" | "revoke" | "set">("");
  const close = (): void => void (open.value = "");
  const grant = ownGrant(plugin);
  const others = plugin.grants.length - (grant ? 1 : 0);
  return (
    <section class="card" aria-labelledby="rights">
      <div class="section-head">
        <h2 id="rights">In this organisation</h2><Granted plugin={plugin} />
        <div class="actions">
          <Button label="Settings" onClick={() => (open.value = "set")} />
          {grant && <Button label="Take rights back" kind="danger" onClick={() => (open.value = "revoke")} />}
          {(!grant || grant.missing.length > 0 || grant.devices !== null) && <Button label="Allow" kind="main" onClick={() => (open.value = "allow")} />}
        </div>
      </div>
      {grant ? (
        <dl class="values">
          <dt>Devices</dt><dd>{grant.devices ? grant.devices.map(nameOf).join(", ") : "all of them"}</dd>
          <dt>Missing</dt><dd>{grant.missing.length === 0 ? "nothing: it may do all that it asks for" : <ul class="plain">{grant.missing.map((right) => <li key={right}>{right}</li>)}</ul>}</dd>
          <dt>Endpoints</dt><dd>{plugin.routes}</dd>
        </dl>
      ) : <p>It may do nothing here yet. Its endpoints and decoders answer once it is allowed.</p>}
      {others > 0 && <p class="small">Allowed in {several(others, "other organisation")}, too.</p>}
      {open.value === "allow" && <AllowSheet plugin={plugin} onClose={close} />}
      {open.value === "set" && <SettingsSheet id={plugin.id} onClose={close} />}
      {open.value === "revoke" && (
        <Confirm title={`Take back the rights of ${plugin.id}`} action="Take them back" onClose={close} onConfirm={async () => {
          said(await call("POST /plugins/{id}/revoke", { path: { id: plugin.id }, body: {} }));
          refresh("plugins");
        }}>
          <p>Calls that are under way end at once, and it hears of no events of this organisation any more. It stays installed.</p>
        </Confirm>
      )}
    </section>
  );
}

function AllowSheet({ plugin, onClose }: { plugin: PluginsPlugin; onClose: () => void }) {
  const grant = ownGrant(plugin);
  const devices = useDevices().data.value?.devices ?? [];
  const all = useSignal(grant?.devices == null);
  const chosen = useSignal<ReadonlySet<string>>(new Set(grant?.devices));
  const allowing = useAction(async () => {
    const body = all.value ? (grant?.devices ? { all_devices: true } : {}) : { devices: [...chosen.value] };
    said(await call("POST /plugins/{id}/approve", { path: { id: plugin.id }, body }));
    refresh("plugins");
  });
  const turn = (id: string): void => {
    const next = new Set(chosen.value);
    if (!next.delete(id)) next.add(id);
    chosen.value = next;
  };
  return (
    <FormSheet title={`Allow ${plugin.id}`} submit="Allow" action={allowing} disabled={!all.value && chosen.value.size === 0} onClose={onClose}>
      <p>It gets all that its manifest asks for, as far as its caller may do it, too. Less than that, or addresses of your own, is granted with <code>hostd plugin approve</code>.</p>
      {grant && grant.missing.length > 0 && <ul class="plain">{grant.missing.map((right) => <li key={right}>{right}</li>)}</ul>}
      <fieldset class="options">
        <legend>Devices</legend>
        <Check label="All devices, also those to come" of={all} />
        {!all.value && devices.map(({ id, name }) => <Check key={id} label={name} on={chosen.value.has(id)} onChange={() => turn(id)} />)}
      </fieldset>
    </FormSheet>
  );
}

function SettingsSheet({ id, onClose }: { id: string; onClose: () => void }) {
  const text = useSignal("{\n  \n}");
  const setting = useAction(async () => {
    let values: unknown;
    try {
      values = JSON.parse(text.value);
    } catch (error) {
      throw new Error(`This is no JSON: ${(error as Error).message}`);
    }
    said(await call("POST /plugins/{id}/configure", { path: { id }, body: { values: values as Record<string, unknown> } }));
    refresh("plugins");
  });
  return (
    <FormSheet title={`Settings of ${id}`} submit="Store" action={setting} onClose={onClose}>
      <Text label="Values, as JSON" rows={6} mono of={text} hint="The names and values that the plugin's manifest has under config; its own documentation lists them. What is not named stays as it is." />
    </FormSheet>
  );
}
