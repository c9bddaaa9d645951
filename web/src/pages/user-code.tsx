// A one-time code for a user's sign-in, as a link.
import type { AuthCode } from "../api/schema.ts";
import { Copyable } from "../ui/copy.tsx";
import { SecretOnce } from "../ui/secret.tsx";

export interface MadeCode extends Pick<AuthCode, "code" | "code_expires_at"> {
  readonly login: string;
}

export const CodeOnce = ({ made: { login, code, code_expires_at }, onKept }: { made: MadeCode; onKept: () => void }) => (
  <SecretOnce title={`Sign-in code for ${login}`} label="Sign-in link" secret={`${location.origin}/sign-in#code=${code}`} onKept={onKept}
    say={`Give this link to ${login}. It signs in once, until ${new Date(code_expires_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}, and is shown only now. A password can be set then, under the account.`}>
    <p>Or the code alone:</p>
    <Copyable label="Code" text={code} />
  </SecretOnce>
);
