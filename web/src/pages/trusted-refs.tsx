// The refs whose jobs write caches that all jobs of the organisation read.
import { useState } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { useGet } from "../api/resource.ts";
import { isAtLeast } from "../api/session.ts";
import { Button, Submit } from "../ui/button.tsx";
import { Text } from "../ui/field.tsx";
import { Loaded, Trouble } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";

export function TrustedRefs() {
  const refs = useGet("trusted refs", "GET /jobs/trusted-refs");
  return (
    <section aria-labelledby="trusted-refs">
      <div class="section-head">
        <h2 id="trusted-refs">Refs that write shared caches</h2>
        <p class="note">Jobs of these refs write the caches that all jobs read. Jobs of other refs read them, and keep what they write to themselves.</p>
      </div>
      <Loaded resource={refs} rows={1}>{(known) => <RefsForm key={known.refs.join("\n")} refs={known.refs} onSaved={() => refs.reload()} />}</Loaded>
    </section>
  );
}

function RefsForm({ refs, onSaved }: { refs: readonly string[]; onSaved: () => Promise<void> }) {
  const before = refs.join("\n");
  const [text, write] = useState(before);
  const saving = useAction(async () => {
    await call("PUT /jobs/trusted-refs", { body: { refs: text.split(/\s+/).filter(Boolean) } });
    await onSaved();
    toast("The trusted refs are stored");
  });
  const changed = text.trim() !== before;
  return (
    <form class="stack narrow" onSubmit={(event) => {
      event.preventDefault();
      void saving.run();
    }}>
      <Text label="Refs, one on a line" rows={3} mono value={text} onInput={write} placeholder={"main\nrelease/*"} hint="* stands for anything within a name, ** for any names between slashes. Empty: none." wrong={saving.failure.value?.fields["refs"]} />
      <Trouble failure={saving.failure.value} />
      {isAtLeast("admin") && <div class="sheet-end"><Button label="Undo" disabled={!changed} onClick={() => write(before)} /><Submit label="Store" busy={saving.busy.value} disabled={!changed} /></div>}
    </form>
  );
}
