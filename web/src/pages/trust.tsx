// Which CI runs are let in by their identity, and which branches are trusted with what others read.
import { useSignal } from "@preact/signals";
import { call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { AuthRule } from "../api/schema.ts";
import { isAtLeast } from "../api/session.ts";
import { query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmByName } from "../ui/confirm.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { rough } from "../ui/time.ts";
import { toast } from "../ui/toast.tsx";
import { TrustSheet } from "./trust-sheet.tsx";
import { TrustedRefs } from "./trusted-refs.tsx";
import { useNameOfUser } from "./users.ts";

export function Trust() {
  const rules = useGet("trust", "GET /github/trust", undefined, 10_000);
  const nameOf = useNameOfUser();
  const removing = useSignal<AuthRule | undefined>(undefined);
  const sheet = query.value.get("sheet");
  const columns: readonly Column<AuthRule>[] = [
    { name: "Repository", cell: ({ repository }) => repository },
    { name: "State", cell: ({ enabled }) => (enabled ? <Badge tone="ok">On</Badge> : <Badge tone="quiet">Off</Badge>) },
    { name: "Ref", named: true, cell: ({ ref }) => (ref ? <code>{ref}</code> : "every ref") },
    { name: "Environment", named: true, wideScreensOnly: true, cell: ({ environment }) => environment ?? "any" },
    { name: "Devices", wide: true, cell: ({ devices }) => (devices ? devices.map(({ name }) => name).join(", ") : "all devices") },
    { name: "Session", right: true, named: true, cell: ({ ttl_seconds }) => rough(ttl_seconds) },
    { name: "Acts for", right: true, wideScreensOnly: true, cell: ({ user }) => nameOf(user) },
    { name: "Change", right: true, unnamed: true, cell: (rule) => (
      <span class="tools">
        <Button label="Change" onClick={() => setQuery({ sheet: rule.id })} />
        <Button label="Remove" kind="danger" onClick={() => (removing.value = rule)} />
      </span>
    ) },
  ];
  const chosen = rules.data.value?.rules.find(({ id }) => id === sheet);
  return (
    <div class="sections">
      <section aria-labelledby="trust-rules">
        <div class="section-head">
          <h2 id="trust-rules">CI runs that are let in</h2>
          {isAtLeast("admin") && <div class="actions"><Button icon="plus" label="Let a repository in" kind="main" onClick={() => setQuery({ sheet: "new" })} /></div>}
          <p class="note">Runs of GitHub Actions show an identity that GitHub has signed, and need no secret. They may use the devices of a rule, and nothing else.</p>
        </div>
        <Loaded resource={rules} rows={2}>
          {({ rules: all }) => all.length === 0
            ? <Empty icon="lock" title="No repository is let in"><p>CI runs without an API key are refused.</p></Empty>
            : <Table label="CI runs that are let in" rows={all} columns={columns} keyOf={({ id }) => id} />}
        </Loaded>
      </section>
      <TrustedRefs />
      {(sheet === "new" || chosen) && <TrustSheet key={sheet} changed={chosen} onClose={() => setQuery({ sheet: undefined })} />}
      {removing.value && (
        <ConfirmByName title={`Remove the rule for ${removing.value.repository}`} name={removing.value.repository} action="Remove" onClose={() => (removing.value = undefined)} onConfirm={async () => {
          await call("DELETE /github/trust/{id}", { path: { id: removing.value!.id } });
          refresh("trust");
          toast("The rule is removed");
        }}>
          <p>Runs of {removing.value.repository} that only this rule let in are refused from now on, and their sessions end.</p>
        </ConfirmByName>
      )}
    </div>
  );
}
