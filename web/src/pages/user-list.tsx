// The users of the organisation: roles, sign-in codes, who is disabled.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { AuthUser } from "../api/schema.ts";
import { isAtLeast, session } from "../api/session.ts";
import { query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmByName } from "../ui/confirm.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { Loaded, Trouble } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { several } from "../ui/time.ts";
import { toast } from "../ui/toast.tsx";
import { Ago } from "../ui/when.tsx";
import { CodeOnce, type MadeCode } from "./user-code.tsx";
import { UserSheet } from "./user-sheet.tsx";

export const ROLES: Readonly<Record<AuthUser["role"], string>> = { member: "Member", admin: "Admin", owner: "Owner" };

const State = ({ user: { disabled, signed_in_at, has_password } }: { user: AuthUser }) =>
  disabled ? <Badge tone="bad">Disabled</Badge> : signed_in_at ? <Badge tone="ok">Active</Badge> : has_password ? <Badge tone="quiet">Never signed in</Badge> : <Badge tone="warn" title="Give this user a sign-in code">Not signed in yet</Badge>;

export function Users() {
  const users = useGet("users list", "GET /users", undefined, 5000);
  const code = useSignal<MadeCode | undefined>(undefined);
  const removing = useSignal<AuthUser | undefined>(undefined);
  const coding = useAction(async ({ id, login }: AuthUser) => {
    code.value = { login, ...(await call("POST /users/{id}/code", { path: { id } })) };
  });
  const sheet = query.value.get("sheet");
  const close = (): void => setQuery({ sheet: undefined });
  const isMe = ({ id }: AuthUser): boolean => id === session.value?.user;
  const columns: readonly Column<AuthUser>[] = [
    { name: "Login", cell: (user) => <>{user.login}{isMe(user) && <span class="small">this is you</span>}</> },
    { name: "Role", cell: ({ role }) => ROLES[role] },
    { name: "State", cell: (user) => <State user={user} /> },
    { name: "Password", wideScreensOnly: true, cell: ({ has_password }) => (has_password ? "set" : <span class="quiet">none</span>) },
    { name: "Last sign-in", right: true, named: true, cell: ({ signed_in_at }) => <Ago iso={signed_in_at} /> },
    { name: "Added", right: true, wideScreensOnly: true, cell: ({ created_at }) => <Ago iso={created_at} /> },
    { name: "Change", right: true, unnamed: true, cell: (user) => (
      <span class="tools">
        <Button label="Sign-in code" disabled={user.disabled || coding.busy.value} onClick={() => void coding.run(user)} />
        <Button label="Change" onClick={() => setQuery({ sheet: user.login })} />
        <Button label="Remove" kind="danger" disabled={isMe(user)} title={isMe(user) ? "Nobody removes themselves" : undefined} onClick={() => (removing.value = user)} />
      </span>
    ) },
  ];
  const chosen = users.data.value?.users.find(({ login }) => login === sheet);
  return (
    <>
      <div class="bar-above">
        <Filter label="Filter users" />
        <span class="grow" />
        {isAtLeast("admin") && <Button icon="plus" label="Add a user" kind="main" onClick={() => setQuery({ sheet: "+" })} />}
      </div>
      <Trouble failure={coding.failure.value} />
      <Loaded resource={users} rows={4}>
        {({ users: all }) => {
          const shown = all.filter((user) => passes(`${user.login} ${user.role} ${user.disabled ? "disabled" : ""}`));
          return shown.length > 0 ? <Table label="Users" rows={shown} columns={columns} keyOf={({ id }) => id} /> : <p class="quiet">None of {several(all.length, "user")} fits the filter.</p>;
        }}
      </Loaded>
      {sheet === "+" && <UserSheet onMade={(made) => (code.value = made)} onClose={close} />}
      {chosen && <UserSheet key={chosen.id} changed={chosen} isMe={isMe(chosen)} onClose={close} />}
      {code.value && <CodeOnce made={code.value} onKept={() => (code.value = undefined)} />}
      {removing.value && <Remove user={removing.value} onClose={() => (removing.value = undefined)} />}
    </>
  );
}

const Remove = ({ user: { id, login }, onClose }: { user: AuthUser; onClose: () => void }) => (
  <ConfirmByName title={`Remove ${login}`} name={login} action="Remove" onClose={onClose} onConfirm={async () => {
    await call("DELETE /users/{id}", { path: { id } });
    refresh("users");
    refresh("keys");
    toast(`${login} is removed`);
  }}>
    <p>Sessions and API keys of {login} end at once, also those that CI uses. What {login} has made stays. To keep somebody out for a while, disable the user instead.</p>
  </ConfirmByName>
);
