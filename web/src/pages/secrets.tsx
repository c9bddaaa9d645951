// Secrets of jobs: their names, who may use them, whether they can be read. Values are written here and shown nowhere.
import { useSignal } from "@preact/signals";
import { call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { SecretsSecret } from "../api/schema.ts";
import { isAtLeast } from "../api/session.ts";
import { envOf } from "../model/notices.ts";
import { query, setQuery } from "../router.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmByName } from "../ui/confirm.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { several } from "../ui/time.ts";
import { toast } from "../ui/toast.tsx";
import { Ago } from "../ui/when.tsx";
import { SecretSheet } from "./secret-sheet.tsx";
import { useNameOfUser } from "./users.ts";

const STATES: Readonly<Record<SecretsSecret["state"], { readonly tone: Tone; readonly word: string; readonly what: string }>> = {
  ready: { tone: "ok", word: "Ready", what: "" },
  no_key: { tone: "bad", word: "No key", what: "The server's file secrets.key is missing or damaged, or others may read it. Put it back." },
  other_key: { tone: "bad", word: "Other key", what: "The server's file secrets.key has another key than this was sealed with. Put the right file back, or write the value again." },
  damaged: { tone: "bad", word: "Damaged", what: "What is stored is damaged. Write the value again." },
};

const State = ({ state }: SecretsSecret) => {
  const { tone, word, what } = STATES[state];
  return <><Badge tone={tone}>{word}</Badge>{what && <span class="small"> {what}</span>}</>;
};

export function Secrets() {
  const secrets = useGet("secrets", "GET /secrets", undefined, 10_000);
  const nameOf = useNameOfUser();
  const removing = useSignal<SecretsSecret | undefined>(undefined);
  const mayWrite = isAtLeast("admin");
  const sheet = query.value.get("sheet");
  const columns: readonly Column<SecretsSecret>[] = [
    { name: "Name", cell: ({ name }) => <span class="mono">{name}<CopyButton what={`How a step uses ${name}`} text={envOf(name)} /></span> },
    { name: "State", wide: true, cell: (secret) => <State {...secret} /> },
    { name: "Jobs of", named: true, cell: ({ refs }) => (refs.length === 0 ? "every ref" : refs.map((ref) => <code key={ref}>{ref}</code>)) },
    { name: "Written", right: true, named: true, cell: ({ updated_at, updated_by }) => <><Ago iso={updated_at} />{mayWrite && ` by ${nameOf(updated_by)}`}</> },
    ...(mayWrite ? [{ name: "Change", right: true, unnamed: true, cell: (secret: SecretsSecret) => (
      <span class="tools">
        <Button label="Replace" title={`Write another value of ${secret.name}`} onClick={() => setQuery({ sheet: secret.name })} />
        <Button label="Remove" kind="danger" onClick={() => (removing.value = secret)} />
      </span>
    ) }] : []),
  ];
  return (
    <>
      <div class="bar-above">
        <Filter label="Filter secrets" />
        <span class="grow" />
        {mayWrite && <Button icon="plus" label="Add a secret" kind="main" onClick={() => setQuery({ sheet: "new" })} />}
      </div>
      <p class="quiet intro">Tokens and passwords that steps of jobs need. A step that names one has it in its environment; logs show <code>[secret]</code> in its place. {mayWrite ? "A value is never shown again." : "Administrators write them."}</p>
      <Loaded resource={secrets} rows={3}>
        {({ secrets: all }) => {
          const known = all.find(({ name }) => name === sheet);
          const shown = all.filter(({ name, refs }) => passes(`${name} ${refs.join(" ")}`));
          return (
            <>
              {all.length === 0 ? <Empty icon="lock" title="No secrets yet"><p>A pipeline uses one with <code>{envOf("CAL_TOKEN")}</code>.</p></Empty>
                : shown.length > 0 ? <Table label="Secrets" rows={shown} columns={columns} keyOf={({ name }) => name} /> : <p class="quiet">None of {several(all.length, "secret")} fits the filter.</p>}
              {mayWrite && (sheet === "new" || known) && <SecretSheet key={sheet} replaced={known} names={all.map(({ name }) => name)} onClose={() => setQuery({ sheet: undefined })} />}
            </>
          );
        }}
      </Loaded>
      {removing.value && <Remove name={removing.value.name} onClose={() => (removing.value = undefined)} />}
    </>
  );
}

const Remove = ({ name, onClose }: { name: string; onClose: () => void }) => (
  <ConfirmByName title={`Remove ${name}`} name={name} action="Remove" onClose={onClose} onConfirm={async () => {
    await call("DELETE /secrets/{name}", { path: { name } });
    refresh("secrets");
    toast(`${name} is removed`);
  }}>
    <p>Pipelines that name it are refused from now on, and jobs that wait end with an error. The value cannot be brought back.</p>
  </ConfirmByName>
);
