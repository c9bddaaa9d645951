// What may stand in a pipeline where the caret is: keys, and the secrets and devices that there are.
import { call } from "../api/client.ts";
import { useGet, useResource } from "../api/resource.ts";
import { kindAt, keysAt } from "../model/caret.ts";
import { type Schema, describe } from "../model/schema.ts";
import { useDevices } from "../pages/devices.tsx";
import { Button } from "../ui/button.tsx";

export function Here({ text, caret, onPut }: { text: string; caret: number; onPut: (name: string) => void }) {
  const schema = useResource("pipeline schema", async (signal) => (await call("GET /jobs/schema.json", undefined, signal)) as unknown as Schema).data.value;
  const secrets = useGet("secrets", "GET /secrets").data.value?.secrets;
  const devices = useDevices().data.value?.devices;
  if (!schema) return null;
  const keys = keysAt(text, caret);
  const own = describe(schema, keys);
  // Of a value without keys, what holds it.
  const around = own && own.keys.length > 0 ? own : describe(schema, keys.slice(0, -1));
  const kind = kindAt(keys);
  const offered: readonly { readonly name: string }[] | undefined = kind && { secret: secrets, device: devices }[kind];
  if (!around && !offered) return null;
  return (
    <section aria-label="What may stand here" class="here">
      <h2 class="mono">{keys.join(".") || "pipeline"}</h2>
      <p class="small">{own?.description}</p>
      {offered && <div class="tools" role="group" aria-label={kind === "secret" ? "Secrets" : "Devices"}>{offered.length === 0 ? <span class="small">There is none yet.</span> : offered.map(({ name }) => <Button key={name} label={name} title={`Put ${name} at the caret`} onClick={() => onPut(name)} />)}</div>}
      {around && around.keys.length > 0 && <dl tabIndex={0} aria-label="Keys">{around.keys.map(({ name, description, isRequired }) => <><dt key={name}>{name}{isRequired && <span class="small"> required</span>}</dt><dd>{description}</dd></>)}</dl>}
    </section>
  );
}
