// The sheet that lets the CI runs of a repository in, or changes what they may.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh } from "../api/resource.ts";
import type { AuthRule } from "../api/schema.ts";
import { Check, Choice, Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { rough } from "../ui/time.ts";
import { useDevices } from "./devices.tsx";

const LIVES = [600, 3600, 4 * 3600, 24 * 3600];

export function TrustSheet({ changed, onClose }: { changed: AuthRule | undefined; onClose: () => void }) {
  const devices = useDevices().data.value?.devices ?? [];
  const [repository, ref, environment] = [useSignal(""), useSignal("refs/heads/main"), useSignal("")];
  const life = useSignal(String(changed?.ttl_seconds ?? 3600));
  const enabled = useSignal(changed?.enabled ?? true);
  const chosen = useSignal<ReadonlySet<string>>(new Set(changed?.devices?.map(({ name }) => name)));
  const saving = useAction(async () => {
    const names = chosen.value.size > 0 ? [...chosen.value] : undefined;
    const ttl_seconds = Number(life.value);
    if (changed) await call("PATCH /github/trust/{id}", { path: { id: changed.id }, body: { enabled: enabled.value, ttl_seconds, devices: names } });
    else
      await call("POST /github/trust", { body: {
        repository: repository.value.trim(), ttl_seconds, ref: ref.value.trim() || undefined, environment: environment.value.trim() || undefined, devices: names,
      } });
    refresh("trust");
  });
  const turn = (name: string): void => {
    const next = new Set(chosen.value);
    if (!next.delete(name)) next.add(name);
    chosen.value = next;
  };
  const wrong = saving.failure.value?.fields ?? {};
  const lives = LIVES.includes(Number(life.value)) ? LIVES : [...LIVES, Number(life.value)];
  // A rule for some devices stays one: the server takes a shorter or longer list, and no "all".
  const mustName = changed?.devices != null;
  return (
    <FormSheet title={changed ? `Change the rule for ${changed.repository}` : "Let a repository in"} submit={changed ? "Change" : "Let it in"} action={saving}
      disabled={changed ? mustName && chosen.value.size === 0 : repository.value.trim() === ""} onClose={onClose}>
      {!changed && (
        <>
          <Field first label="Repository" of={repository} placeholder="acme/blinky" hint="owner/name, or owner/* for all of an owner's." wrong={wrong["repository"]} />
          <Field label="Ref" of={ref} placeholder="refs/heads/main" hint="* stands for anything. Empty: every ref, also of pull requests." wrong={wrong["ref"]} />
          <Field label="Environment" of={environment} hint="Only runs that name this deployment environment. Empty: any." wrong={wrong["environment"]} />
        </>
      )}
      <fieldset class="options">
        <legend>Devices <span class="small">{chosen.value.size === 0 ? (mustName ? "at least one" : "all of them") : `${chosen.value.size} of ${devices.length}`}</span></legend>
        {devices.map(({ id, name }) => <Check key={id} label={name} on={chosen.value.has(name)} onChange={() => turn(name)} />)}
        {wrong["devices"] && <p class="fault" role="alert">{wrong["devices"]}</p>}
      </fieldset>
      <Choice label="A session lasts" of={life} options={lives.map((seconds) => ({ value: String(seconds), name: rough(seconds) }))} wrong={wrong["ttl_seconds"]} />
      {changed && <Check label="On" of={enabled} />}
    </FormSheet>
  );
}
