// One webhook: what it is about, whether it works, its last messages, what can be done.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { WebhooksDelivery, WebhooksNewRecord, WebhooksRecord } from "../api/schema.ts";
import { jobsOf, shortUrl } from "../model/notices.ts";
import { setQuery } from "../router.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded, Trouble } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { several } from "../ui/time.ts";
import { toast } from "../ui/toast.tsx";
import { Ago } from "../ui/when.tsx";
import { WebhookState } from "./webhooks.tsx";

const PHASES: Readonly<Record<WebhooksDelivery["phase"], { readonly tone: Tone; readonly word: string }>> = {
  waiting: { tone: "info", word: "Waiting" },
  delivered: { tone: "ok", word: "Delivered" },
  failed: { tone: "bad", word: "Given up" },
  dropped: { tone: "bad", word: "Dropped" },
};

export function WebhookShown({ webhook, onSecret }: { webhook: WebhooksRecord; onSecret: (record: WebhooksNewRecord) => void }) {
  const { id, url, name, ref, events, enabled, disabled_because, failing_since } = webhook;
  const asking = useSignal<"" | "rotate" | "remove" | "removed">("");
  // One that is being removed is not asked for its messages any more.
  const deliveries = useGet(`webhooks deliveries ${id}`, "GET /webhooks/{id}/deliveries", { path: { id } }, asking.value.startsWith("remove") ? 0 : 2000);
  const close = (): void => {
    if (asking.peek() !== "removed") asking.value = "";
  };
  const path = { id };
  const sending = useAction(async (again?: WebhooksDelivery) => {
    if (again) await call("POST /webhooks/{id}/deliveries/{delivery}/redeliver", { path: { id, delivery: again.id } });
    else await call("POST /webhooks/{id}/test", { path });
    refresh("webhooks");
  });
  const columns: readonly Column<WebhooksDelivery>[] = [
    { name: "Message", cell: ({ event, job, id: message }) => <>{job ? <a href={`/jobs/${job}`}>{event}</a> : event}<span class="small mono">{message}</span></> },
    { name: "State", cell: ({ phase, attempts }) => (phase === "waiting" && attempts > 0 ? <Badge tone="warn">Will be retried</Badge> : <Badge tone={PHASES[phase].tone}>{PHASES[phase].word}</Badge>) },
    { name: "Answer", wide: true, cell: ({ status, error, attempts, next_at, phase }) => (
      <>
        {[status !== null && `status ${status}`, error].filter(Boolean).join(": ") || (attempts === 0 ? "not sent yet" : "–")}
        {attempts > 1 && <span class="small"> {several(attempts, "attempt")}</span>}
        {phase === "waiting" && attempts > 0 && next_at && <span class="small"> next at {new Date(next_at).toLocaleTimeString()}</span>}
      </>
    ) },
    { name: "Sent", right: true, named: true, cell: ({ tried_at, created_at }) => <Ago iso={tried_at ?? created_at} /> },
    { name: "Send", right: true, unnamed: true, cell: (one) => <span class="tools"><Button label="Send again" disabled={one.phase === "waiting" || sending.busy.value} onClick={() => void sending.run(one)} /></span> },
  ];
  return (
    <section class="stack" aria-labelledby="webhook">
      <div class="section-head">
        <h2 id="webhook">{shortUrl(url)}</h2><WebhookState webhook={webhook} />
        <div class="actions">
          <Button label="Send a test" action={sending} disabled={!enabled} title={enabled ? undefined : "It is off"} />
          <Button icon="edit" label="Change" onClick={() => setQuery({ sheet: "change", webhook: id })} />
          <Button label="New secret" onClick={() => (asking.value = "rotate")} />
          <Button icon="trash" label="Remove" kind="danger" onClick={() => (asking.value = "remove")} />
        </div>
      </div>
      {!enabled && <p class="warning"><Icon name="warning" /> It is off{disabled_because ? `: ${disabled_because}` : ""}. Change it to switch it on again.</p>}
      <Trouble failure={sending.failure.value} />
      <dl class="values">
        <dt>Address</dt><dd class="mono">{url}</dd>
        <dt>About</dt><dd>{jobsOf(name, ref)}</dd>
        <dt>Events</dt><dd>{events.map((one) => <code key={one}>{one} </code>)}</dd>
        {failing_since && <><dt>Failing since</dt><dd><Ago iso={failing_since} /></dd></>}
      </dl>
      <Loaded resource={deliveries} rows={3}>
        {({ deliveries: all }) => all.length === 0
          ? <p class="quiet">Nothing was sent yet. A test shows whether the receiver answers.</p>
          : <Table label="Last messages" rows={all} columns={columns} keyOf={({ id: message }) => message} />}
      </Loaded>
      {asking.value === "rotate" && (
        <Confirm title={`New secret for ${shortUrl(url)}`} action="Make it" onClose={close} onConfirm={async () => {
          onSecret(await call("POST /webhooks/{id}/rotate", { path }));
          refresh("webhooks");
        }}>
          <p>Messages are signed with the new secret from the next attempt on. The receiver refuses them until it has it.</p>
        </Confirm>
      )}
      {asking.value === "remove" && (
        <Confirm title={`Remove ${shortUrl(url)}`} action="Remove" onClose={close} onConfirm={async () => {
          await call("DELETE /webhooks/{id}", { path });
          asking.value = "removed";
          refresh("webhooks list");
          setQuery({ webhook: undefined });
          toast("The webhook is removed");
        }}>
          <p>Messages that wait for it are not sent any more.</p>
        </Confirm>
      )}
    </section>
  );
}
