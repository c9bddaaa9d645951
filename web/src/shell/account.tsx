// Who is signed in, light or dark, signing out; on phones the places for administration, too.
import { useSignal } from "@preact/signals";
import { session, signOut } from "../api/session.ts";
import { useAction } from "../api/action.ts";
import { navigate } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Sheet } from "../ui/sheet.tsx";
import { Trouble } from "../ui/states.tsx";
import { Places } from "./frame.tsx";
import { ADMINISTRATION } from "./routes.tsx";
import { PasswordSheet } from "./password.tsx";
import { Colours } from "./theme.tsx";

/** Beside the program itself, below the hash of its version. */
const LICENCES = new URL("LICENSES.txt", import.meta.url).pathname;

export function Account() {
  const open = useSignal(false);
  const setting = useSignal(false);
  const known = session.value;
  return (
    <div class="account">
      <button type="button" class="who" aria-haspopup="dialog" onClick={() => (open.value = true)}>
        <Icon name="person" />
        <span class="who-name"><b>{known?.login ?? "Account"}</b>{known && <span class="small">{known.org_name}</span>}</span>
      </button>
      <Colours />
      {open.value && <AccountSheet onPassword={() => {
        open.value = false;
        setting.value = true;
      }} onClose={() => (open.value = false)} />}
      {setting.value && <PasswordSheet onClose={() => (setting.value = false)} />}
    </div>
  );
}

function AccountSheet({ onPassword, onClose }: { onPassword: () => void; onClose: () => void }) {
  const known = session.value;
  const leaving = useAction(signOut);
  return (
    <Sheet title="Account" onClose={onClose}>
      <div class="stack">
        {known && (
          <dl class="values">
            <dt>Login</dt><dd>{known.login}</dd>
            <dt>Role</dt><dd>{known.role}</dd>
            <dt>Organisation</dt><dd>{known.org_name}</dd>
          </dl>
        )}
        {ADMINISTRATION.length > 0 && <div class="account-places" onClick={onClose}><Places to={ADMINISTRATION} label="Administration" /></div>}
        <Colours />
        <Trouble failure={leaving.failure.value} />
        <p class="small"><a href={LICENCES} target="_blank">Licences of what this page is made of</a></p>
        <div class="sheet-end">
          <a class="button" href="/api/docs">API reference</a>
          <Button icon="lock" label="Set password" onClick={onPassword} />
          <Button icon="out" label="Sign out" busy={leaving.busy.value} onClick={() => void leaving.run().then((done) => done && navigate("/sign-in"))} />
        </div>
      </div>
    </Sheet>
  );
}
