// API keys of the organisation: what each may do, when it was used last.
import { useSignal } from "@preact/signals";
import { call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { AuthKey, AuthNewKey } from "../api/schema.ts";
import { ending, nameOfScope, standing } from "../model/scopes.ts";
import { query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmByName } from "../ui/confirm.tsx";
import { Head } from "../ui/head.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { SecretOnce } from "../ui/secret.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { rough, several } from "../ui/time.ts";
import { toast } from "../ui/toast.tsx";
import { Ago } from "../ui/when.tsx";
import { KeySheet } from "./key-sheet.tsx";
import { useNameOfUser } from "./users.ts";

const End = ({ at }: { at: string | null }) => {
  const now = Date.now();
  const words = ending(at, now, rough);
  const tone = { good: undefined, soon: "warn", over: "bad" } as const;
  const kind = tone[standing(at, now)];
  return kind ? <Badge tone={kind} title={new Date(at!).toLocaleString()}>{kind === "bad" ? `Ended ${words}` : words}</Badge> : <span title={at ? new Date(at).toLocaleString() : undefined}>{words}</span>;
};

export default function KeysPage() {
  const keys = useGet("keys", "GET /keys", undefined, 5000);
  const nameOf = useNameOfUser();
  const made = useSignal<AuthNewKey | undefined>(undefined);
  const revoking = useSignal<AuthKey | undefined>(undefined);
  const sheet = query.value.get("sheet");
  const close = (): void => setQuery({ sheet: undefined });
  const columns: readonly Column<AuthKey>[] = [
    { name: "Name", cell: ({ name, kid }) => <>{name}<span class="small mono">{kid}</span></> },
    { name: "May", wide: true, cell: ({ scopes }) => <span class="badges">{scopes.map((scope) => <Badge key={scope} tone={scope === "bench:admin" ? "warn" : "quiet"} title={scope}>{nameOfScope(scope)}</Badge>)}</span> },
    { name: "Acts for", named: true, cell: ({ owner }) => nameOf(owner) },
    { name: "Last used", right: true, named: true, cell: ({ last_used_at }) => (last_used_at ? <Ago iso={last_used_at} /> : <span class="quiet">never</span>) },
    { name: "Ends", right: true, named: true, cell: ({ expires_at }) => <End at={expires_at} /> },
    { name: "Change", right: true, unnamed: true, cell: (key) => (
      <span class="tools">
        <Button label="Change" onClick={() => setQuery({ sheet: key.kid })} />
        <Button label="Revoke" kind="danger" onClick={() => (revoking.value = key)} />
      </span>
    ) },
  ];
  const chosen = keys.data.value?.keys.find(({ kid }) => kid === sheet);
  return (
    <main class="page">
      <Head title="Keys" note={keys.data.value && several(keys.data.value.keys.length, "key")}>
        <Filter label="Filter keys" />
        <Button icon="plus" label="Make a key" kind="main" onClick={() => setQuery({ sheet: "new" })} />
      </Head>
      <Loaded resource={keys} rows={4}>
        {({ keys: all }) => {
          if (all.length === 0) return <Empty icon="key" title="No keys yet"><p>Programs and CI use the API with a key. It acts for you, as far as its rights reach.</p></Empty>;
          const shown = all.filter((key) => passes(`${key.name} ${key.kid} ${nameOf(key.owner)} ${key.scopes.map(nameOfScope).join(" ")}`));
          return shown.length > 0 ? <Table label="Keys" rows={shown} columns={columns} keyOf={({ kid }) => kid} /> : <p class="quiet">None of {several(all.length, "key")} fits the filter.</p>;
        }}
      </Loaded>
      {sheet === "new" && <KeySheet onMade={(key) => (made.value = key)} onClose={close} />}
      {chosen && <KeySheet key={chosen.kid} changed={chosen} onClose={close} />}
      {made.value && (
        <SecretOnce title={`Key ${made.value.name}`} label="Key" secret={made.value.secret} onKept={() => (made.value = undefined)}>
          <p class="small">Programs send it as <code>Authorization: ApiKey …</code>, and hostd's own commands read it from <code>HOSTD_KEY</code>.</p>
        </SecretOnce>
      )}
      {revoking.value && <Revoke revoked={revoking.value} onClose={() => (revoking.value = undefined)} />}
    </main>
  );
}

function Revoke({ revoked, onClose }: { revoked: AuthKey; onClose: () => void }) {
  return (
    <ConfirmByName title={`Revoke the key ${revoked.name}`} name={revoked.name} action="Revoke" onClose={onClose} onConfirm={async () => {
      await call("DELETE /keys/{kid}", { path: { kid: revoked.kid } });
      refresh("keys");
      toast(`The key ${revoked.name} opens nothing any more`);
    }}>
      <p>Programs that use it are refused from now on, and what they hold over it ends. It was last used {revoked.last_used_at ? <Ago iso={revoked.last_used_at} /> : "never"}.</p>
    </ConfirmByName>
  );
}
