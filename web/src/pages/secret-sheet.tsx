// The sheet that writes a secret: a new one, or another value of one.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh } from "../api/resource.ts";
import type { SecretsSecret } from "../api/schema.ts";
import { envOf, refsOf } from "../model/notices.ts";
import { Field, Text } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { toast } from "../ui/toast.tsx";

export function SecretSheet({ replaced, names, onClose }: { replaced: SecretsSecret | undefined; names: readonly string[]; onClose: () => void }) {
  const [name, value, refs] = [useSignal(replaced?.name ?? ""), useSignal(""), useSignal(replaced?.refs.join(" ") ?? "")];
  const called = name.value.trim();
  const writing = useAction(async () => {
    await call("PUT /secrets/{name}", { path: { name: called }, body: { value: value.peek(), refs: refsOf(refs.peek()) } });
    value.value = "";
    refresh("secrets");
    toast(`${called} is written`);
  });
  const wrong = writing.failure.value?.fields ?? {};
  return (
    <FormSheet title={replaced ? `Replace ${replaced.name}` : "Add a secret"} submit={replaced ? "Replace" : "Add"} action={writing} disabled={called === "" || value.value === ""} onClose={onClose}>
      {!replaced && <Field first label="Name" value={name.value} onInput={(text) => (name.value = text.toUpperCase())} maxLength={64} placeholder="CAL_TOKEN" wrong={wrong["name"]}
        hint={names.includes(called) ? <b>There is a secret {called}: its value will be replaced.</b> : "Capital letters, digits and _, beginning with a letter."} />}
      <Text label="Value" rows={4} mono of={value} wrong={wrong["value"]} hint="At least 8 characters. It can be written again, and never read." />
      <Field label="Only for jobs of these refs" of={refs} placeholder="main release/*" wrong={wrong["refs"]} hint="Between spaces. Empty: every job of the organisation may use it. A job's ref is what its submitter says." />
      {called && <p class="small">A step uses it with <code>{envOf(called)}</code></p>}
    </FormSheet>
  );
}
