// The sheet that adds a user, or changes the role of one.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh } from "../api/resource.ts";
import type { AuthUser } from "../api/schema.ts";
import { Check, Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import type { MadeCode } from "./user-code.tsx";

const ROLES = [
  { id: "member", name: "Member", about: "Uses benches, submits jobs, analyses boards" },
  { id: "admin", name: "Admin", about: "Also manages devices, users, keys and plugins" },
  { id: "owner", name: "Owner", about: "Also makes and removes other owners" },
] as const;

export function UserSheet({ changed, isMe = false, onMade, onClose }: { changed?: AuthUser; isMe?: boolean; onMade?: (made: MadeCode) => void; onClose: () => void }) {
  const login = useSignal("");
  const role = useSignal<AuthUser["role"]>(changed?.role ?? "member");
  const disabled = useSignal(changed?.disabled ?? false);
  const saving = useAction(async () => {
    if (changed) await call("PATCH /users/{id}", { path: { id: changed.id }, body: { role: role.value, disabled: disabled.value } });
    else onMade!(await call("POST /users", { body: { login: login.value.trim(), role: role.value } }));
    refresh("users");
  });
  const wrong = saving.failure.value?.fields ?? {};
  return (
    <FormSheet title={changed ? `Change ${changed.login}` : "Add a user"} submit={changed ? "Change" : "Add"} action={saving} disabled={!changed && login.value.trim() === ""} onClose={onClose}>
      {!changed && <Field first label="Login" of={login} maxLength={64} placeholder="ada" wrong={wrong["login"]} hint="Letters, digits and . _ @ + -" />}
      <fieldset class="options">
        <legend>Role</legend>
        {ROLES.map(({ id, name, about }) => (
          <label key={id} class="option">
            <input type="radio" name="role" checked={role.value === id} onChange={() => (role.value = id)} />
            <span>{name}<span class="small">{about}</span></span>
          </label>
        ))}
        {wrong["role"] && <p class="fault" role="alert">{wrong["role"]}</p>}
      </fieldset>
      {changed && !isMe && <Check label="Disabled: sessions end, and keys open nothing" of={disabled} />}
    </FormSheet>
  );
}
