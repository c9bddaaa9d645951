// Webhooks: the list beside the one that is looked at.
import { useSignal } from "@preact/signals";
import { useGet } from "../api/resource.ts";
import type { WebhooksNewRecord, WebhooksRecord } from "../api/schema.ts";
import { isAtLeast } from "../api/session.ts";
import { shortUrl } from "../model/notices.ts";
import { query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { SecretOnce } from "../ui/secret.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { several } from "../ui/time.ts";
import { WebhookSheet } from "./webhook-sheet.tsx";
import { WebhookShown } from "./webhook-shown.tsx";

export const WebhookState = ({ webhook: { enabled, disabled_because, failures } }: { webhook: WebhooksRecord }) => {
  if (!enabled) return <Badge tone="bad" title={disabled_because ?? undefined}>Off</Badge>;
  return failures > 0 ? <Badge tone="warn">{several(failures, "failure")} in a row</Badge> : <Badge tone="ok">On</Badge>;
};

export function Webhooks() {
  const webhooks = useGet("webhooks list", "GET /webhooks", undefined, 5000);
  const made = useSignal<WebhooksNewRecord | undefined>(undefined);
  const sheet = query.value.get("sheet");
  const asked = query.value.get("webhook");
  const close = (): void => setQuery({ sheet: undefined });
  return (
    <>
      <div class="bar-above">
        <p class="quiet intro">A webhook gets a signed message over HTTP when a job has ended, or when a plugin reports something.</p>
        {isAtLeast("admin") && <Button icon="plus" label="Add a webhook" kind="main" onClick={() => setQuery({ sheet: "new" })} />}
      </div>
      <Loaded resource={webhooks} rows={3}>
        {({ webhooks: all }) => {
          const chosen = asked === null ? all[0] : all.find(({ id }) => id === asked);
          if (all.length === 0) return <Empty icon="link" title="No webhooks yet"><p>Add the address of a chat, a dashboard or a program of yours: it need not ask again and again whether a job has ended.</p></Empty>;
          return (
            <div class="beside">
              <nav aria-label="All webhooks" class="items">
                {all.map((one) => (
                  <a key={one.id} href={`/settings/webhooks?webhook=${one.id}`} aria-current={one.id === chosen?.id ? "page" : undefined}><b>{shortUrl(one.url)}</b><span><WebhookState webhook={one} /></span></a>
                ))}
              </nav>
              {chosen ? <WebhookShown key={chosen.id} webhook={chosen} onSecret={(record) => (made.value = record)} /> : <Empty icon="link" title="No such webhook"><p>It was removed.</p></Empty>}
              {chosen && sheet === "change" && <WebhookSheet key={chosen.id} changed={chosen} onClose={close} />}
            </div>
          );
        }}
      </Loaded>
      {sheet === "new" && <WebhookSheet onMade={(record) => {
        made.value = record;
        setQuery({ webhook: record.id });
      }} onClose={close} />}
      {made.value && (
        <SecretOnce title={`Secret of ${shortUrl(made.value.url)}`} label="Secret" secret={made.value.secret} say="Messages are signed with this. It is shown once: give it to the receiver, which checks the header webhook-signature with it." onKept={() => (made.value = undefined)}>
          <p class="small">The signature is as <a href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">Standard Webhooks</a> has it, for which there are libraries.</p>
        </SecretOnce>
      )}
    </>
  );
}
