// Plugins of the server: what serves, and what each may do here.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { request, url } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { PluginsNotes, PluginsPlugin } from "../api/schema.ts";
import { isAtLeast } from "../api/session.ts";
import { query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { FileDrop } from "../ui/drop.tsx";
import { Head } from "../ui/head.tsx";
import { Icon } from "../ui/icon.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { several } from "../ui/time.ts";
import { toast } from "../ui/toast.tsx";
import { PluginState, ownGrant } from "./plugin-state.tsx";

export const Granted = ({ plugin }: { plugin: PluginsPlugin }) => {
  const grant = ownGrant(plugin);
  if (!grant) return <Badge tone="quiet">Not allowed here</Badge>;
  if (grant.missing.length > 0) return <Badge tone="warn" title={grant.missing.join("\n")}>{`${several(grant.missing.length, "right")} missing`}</Badge>;
  return <Badge tone="ok">Allowed</Badge>;
};

const COLUMNS: readonly Column<PluginsPlugin>[] = [
  { name: "Plugin", cell: ({ id, version }) => <><a href={`/plugins/${id}`}>{id}</a><span class="small">{version ? `version ${version}` : "no version"}</span></> },
  { name: "State", cell: (plugin) => <PluginState plugin={plugin} /> },
  { name: "In this organisation", cell: (plugin) => <Granted plugin={plugin} /> },
  { name: "About it", wide: true, cell: ({ reason }) => reason ?? "" },
  { name: "Endpoints", right: true, named: true, cell: ({ routes }) => <span class="number">{routes}</span> },
];

export default function PluginsPage() {
  const plugins = useGet("plugins", "GET /plugins", undefined, 4000);
  const known = plugins.data.value;
  return (
    <main class="page">
      <Head title="Plugins" note={known && several(known.plugins.length, "plugin")}>
        <Filter label="Filter plugins" />
        {isAtLeast("admin") && <Button icon="upload" label="Install" kind="main" onClick={() => setQuery({ sheet: "install" })} />}
      </Head>
      <Loaded resource={plugins} rows={3}>
        {({ plugins: all, refused }) => (
          <>
            {refused.map(({ origin, reason }) => <p key={origin} class="warning"><Icon name="warning" /> <span><b>{origin}</b> was not installed: {reason}</span></p>)}
            {all.length === 0
              ? <Empty icon="plugin" title="No plugins"><p>A plugin adds endpoints, decoders, or reacts to what happens. Install a package that <code>hostd plugin pack</code> made.</p></Empty>
              : <Table label="Plugins" rows={all.filter(({ id, state }) => passes(`${id} ${state}`))} columns={COLUMNS} keyOf={({ id }) => id} />}
          </>
        )}
      </Loaded>
      {query.value.get("sheet") === "install" && <InstallSheet onClose={() => setQuery({ sheet: undefined })} />}
    </main>
  );
}

function InstallSheet({ onClose }: { onClose: () => void }) {
  const file = useSignal<File | undefined>(undefined);
  const installing = useAction(async () => {
    const response = await request(url("POST /plugins"), { method: "POST", body: file.peek()!, headers: { "content-type": "application/x-tar", accept: "application/json" } });
    const { notes } = (await response.json()) as PluginsNotes;
    notes.forEach((note) => toast(note));
    refresh("plugins");
  });
  return (
    <FormSheet title="Install a plugin" submit="Install" action={installing} disabled={!file.value} onClose={onClose}>
      <p>Operators of the server install plugins. An installed plugin does nothing before an administrator has allowed it.</p>
      <FileDrop label="Choose a package" accept=".tar" of={file}>a .tar that <code>hostd plugin pack</code> made</FileDrop>
    </FormSheet>
  );
}
