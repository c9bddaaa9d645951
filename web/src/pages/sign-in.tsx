// Signing in, with a password or the one-time code that the server prints when it starts.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { type Credential, signIn } from "../api/session.ts";
import { navigate, ownPath, query } from "../router.ts";
import { HOME } from "../shell/routes.tsx";
import { Submit } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Trouble } from "../ui/states.tsx";

/** Back to where the session was missing. What the server itself shows there, such as a report, the browser loads. */
function leave(): void {
  const to = ownPath(query.peek().get("to"), HOME);
  if (/^\/(api|tools)\//.test(to)) location.replace(to);
  else navigate(to, "replace");
}

export default function SignInPage() {
  const [login, password, code] = [useSignal(""), useSignal(""), useSignal("")];
  const entering = useAction((credential: Credential) => signIn(credential));
  const enter = (credential: Credential): void => void entering.run(credential).then((done) => done && leave());
  useEffect(() => {
    document.title = "Sign in – hostd";
    // The code comes as a fragment, which reaches no server's log; it leaves the address before it is used.
    const printed = new URLSearchParams(location.hash.slice(1)).get("code");
    if (!printed) return;
    history.replaceState(null, "", location.pathname + location.search);
    enter({ code: printed });
  }, []);
  const { failure, busy } = entering;
  return (
    <main class="sign-in">
      <h1><svg class="logo" viewBox="0 0 24 16" aria-hidden="true"><path d="M1 13h5V3h6v10h5V3h6" /></svg> Sign in to hostd</h1>
      <Trouble failure={failure.value} />
      <form class="card stack" onSubmit={(event) => {
        event.preventDefault();
        enter({ login: login.value.trim(), password: password.value });
      }}>
        <Field label="Login" of={login} autocomplete="username" required />
        <Field label="Password" type="password" of={password} autocomplete="current-password" required />
        <Submit label="Sign in" busy={busy.value} />
      </form>
      <form class="card stack" onSubmit={(event) => {
        event.preventDefault();
        enter({ code: code.value.trim() });
      }}>
        <Field label="One-time code" of={code} autocomplete="one-time-code" required hint={<>Printed by a new server when it starts, and by <code>hostd user code LOGIN</code>. It is good once, for 15 minutes.</>} />
        <Submit label="Sign in with the code" kind="main" busy={busy.value} />
      </form>
    </main>
  );
}
