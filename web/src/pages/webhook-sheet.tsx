// The sheet that adds a webhook, or changes where it leads and what it is about.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh } from "../api/resource.ts";
import type { WebhooksNewRecord, WebhooksRecord } from "../api/schema.ts";
import { refsOf } from "../model/notices.ts";
import { Check, Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";

const USUAL = "job.finished";

export function WebhookSheet({ changed, onMade, onClose }: { changed?: WebhooksRecord; onMade?: (made: WebhooksNewRecord) => void; onClose: () => void }) {
  const [address, name, ref] = [useSignal(changed?.url ?? ""), useSignal(changed?.name ?? ""), useSignal(changed?.ref ?? "")];
  const events = useSignal(changed?.events.join(" ") ?? USUAL);
  const enabled = useSignal(changed?.enabled ?? true);
  const saving = useAction(async () => {
    const kinds = refsOf(events.peek());
    const body = { url: address.peek().trim(), events: kinds.length > 0 ? kinds : [USUAL], name: name.peek().trim() || null, ref: ref.peek().trim() || null };
    if (changed) await call("PATCH /webhooks/{id}", { path: { id: changed.id }, body: { ...body, enabled: enabled.peek() } });
    else onMade!(await call("POST /webhooks", { body }));
    refresh("webhooks");
  });
  const wrong = saving.failure.value?.fields ?? {};
  return (
    <FormSheet title={changed ? "Change the webhook" : "Add a webhook"} submit={changed ? "Change" : "Add"} action={saving} disabled={address.value.trim() === ""} onClose={onClose}>
      <Field first label="Address" type="url" of={address} maxLength={2000} placeholder="https://chat.example/hooks/bench" hint="Where messages are sent, with POST." wrong={wrong["url"]} />
      <div class="columns">
        <Field label="Only jobs named" of={name} maxLength={255} placeholder="blinky" hint="Empty: all." wrong={wrong["name"]} />
        <Field label="Only of the ref" of={ref} maxLength={255} placeholder="main" hint="Empty: every ref." wrong={wrong["ref"]} />
      </div>
      <Field label="Events" of={events} placeholder={USUAL} hint={<><code>{USUAL}</code>, and <code>x.plugin.kind</code> for what plugins report; several between spaces.</>} wrong={wrong["events"]} />
      {changed && <Check label="On: messages are sent" of={enabled} />}
    </FormSheet>
  );
}
