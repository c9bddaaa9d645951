// The sheet that makes a key, or changes its name and rights.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh } from "../api/resource.ts";
import type { AuthKey, AuthNewKey } from "../api/schema.ts";
import { LIVES, SCOPES, type Scope } from "../model/scopes.ts";
import { Choice, Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";

export function KeySheet({ changed, onMade, onClose }: { changed?: AuthKey; onMade?: (key: AuthNewKey) => void; onClose: () => void }) {
  const name = useSignal(changed?.name ?? "");
  const scopes = useSignal<ReadonlySet<Scope>>(new Set(changed?.scopes ?? ["bench:control"]));
  const life = useSignal<string>(LIVES[2].value);
  const saving = useAction(async () => {
    const body = { name: name.value.trim(), scopes: [...scopes.value] };
    if (changed) await call("PATCH /keys/{kid}", { path: { kid: changed.kid }, body });
    else onMade!(await call("POST /keys", { body: { ...body, ttl_seconds: Number(life.value) || undefined } }));
    refresh("keys");
  });
  const turn = (scope: Scope): void => {
    const next = new Set(scopes.value);
    if (!next.delete(scope)) next.add(scope);
    scopes.value = next;
  };
  const wrong = saving.failure.value?.fields ?? {};
  return (
    <FormSheet title={changed ? `Change the key ${changed.name}` : "Make a key"} submit={changed ? "Change" : "Make the key"} action={saving} disabled={name.value.trim() === "" || scopes.value.size === 0} onClose={onClose}>
      <Field first label="Name" of={name} maxLength={64} placeholder="nightly CI" wrong={wrong["name"]} />
      <fieldset class="options">
        <legend>It may</legend>
        {SCOPES.map(({ id, name: called, about }) => (
          <label key={id} class="option">
            <input type="checkbox" checked={scopes.value.has(id)} onChange={() => turn(id)} />
            <span>{called}<span class="small">{about}</span></span>
          </label>
        ))}
        {wrong["scopes"] && <p class="fault" role="alert">{wrong["scopes"]}</p>}
      </fieldset>
      {!changed && <Choice label="Ends after" of={life} options={LIVES} wrong={wrong["ttl_seconds"]} />}
    </FormSheet>
  );
}
