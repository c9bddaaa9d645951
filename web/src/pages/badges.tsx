// Badges: pictures that say how the newest job of a name stands, for pages elsewhere.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { BadgesBadge } from "../api/schema.ts";
import { isAtLeast } from "../api/session.ts";
import { MARKUPS } from "../model/notices.ts";
import { query, setQuery } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmByName } from "../ui/confirm.tsx";
import { Copyable } from "../ui/copy.tsx";
import { Field } from "../ui/field.tsx";
import { FormSheet, Sheet } from "../ui/sheet.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { Ago } from "../ui/when.tsx";

/** Read again when the word changes, since browsers keep a picture for a minute. */
const Picture = ({ badge: { image, label, word } }: { badge: BadgesBadge }) => <img class="badge-picture" src={`${image}?${word}`} alt={`${label}: ${word}`} height={20} />;

export function Badges() {
  const badges = useGet("badges", "GET /badges", undefined, 5000);
  const removing = useSignal<BadgesBadge | undefined>(undefined);
  const sheet = query.value.get("sheet");
  const close = (): void => setQuery({ sheet: undefined });
  const columns: readonly Column<BadgesBadge>[] = [
    { name: "Badge", cell: (badge) => <Picture badge={badge} /> },
    { name: "Jobs", named: true, cell: ({ name }) => <a href={`/jobs?q=${encodeURIComponent(name)}`}>{name}</a> },
    { name: "Ref", named: true, cell: ({ ref }) => (ref ? <code>{ref}</code> : "every ref") },
    { name: "Made", right: true, wideScreensOnly: true, cell: ({ created_at }) => <Ago iso={created_at} /> },
    { name: "Change", right: true, unnamed: true, cell: (badge) => (
      <span class="tools">
        <Button label="Use it" title="What a page needs to show it" onClick={() => setQuery({ sheet: badge.id })} />
        <Button label="Remove" kind="danger" onClick={() => (removing.value = badge)} />
      </span>
    ) },
  ];
  const used = badges.data.value?.badges.find(({ id }) => id === sheet);
  return (
    <>
      <div class="bar-above">
        <p class="quiet intro">A badge shows how the newest job of a name stands. Its address cannot be guessed, and shows nothing else; it needs no login.</p>
        {isAtLeast("admin") && <Button icon="plus" label="Make a badge" kind="main" onClick={() => setQuery({ sheet: "new" })} />}
      </div>
      <Loaded resource={badges} rows={3}>
        {({ badges: all }) => all.length === 0
          ? <Empty icon="flag" title="No badges yet"><p>Make one for the jobs of a pipeline, and put it into the README of its repository.</p></Empty>
          : <Table label="Badges" rows={all} columns={columns} keyOf={({ id }) => id} />}
      </Loaded>
      {sheet === "new" && <BadgeSheet onClose={close} />}
      {used && <UseSheet badge={used} onClose={close} />}
      {removing.value && (
        <ConfirmByName title={`Remove the badge ${removing.value.label}`} name={removing.value.label} action="Remove" onClose={() => (removing.value = undefined)} onConfirm={async () => {
          await call("DELETE /badges/{id}", { path: { id: removing.peek()!.id } });
          refresh("badges");
          toast("The badge is removed");
        }}>
          <p>Pages that show it have a broken picture from now on. A new badge gets another address.</p>
        </ConfirmByName>
      )}
    </>
  );
}

function UseSheet({ badge, onClose }: { badge: BadgesBadge; onClose: () => void }) {
  const address = location.origin + badge.image;
  return (
    <Sheet title={`Use the badge ${badge.label}`} onClose={onClose}>
      <div class="stack">
        <Picture badge={badge} />
        <div class="field"><span>Address</span><Copyable label="Address" text={address} /></div>
        {MARKUPS.map(({ name, of }) => <div key={name} class="field"><span>{name}</span><Copyable label={name} text={of(badge.label, address)} /></div>)}
        <div class="sheet-end"><Button label="Done" kind="main" onClick={onClose} /></div>
      </div>
    </Sheet>
  );
}

function BadgeSheet({ onClose }: { onClose: () => void }) {
  const [name, ref, label] = [useSignal(""), useSignal(""), useSignal("")];
  const jobs = useGet("jobs names", "GET /jobs", { query: { limit: 100 } });
  const names = [...new Set((jobs.data.value?.jobs ?? []).map((job) => job.name))].filter((one): one is string => one !== null).sort();
  const making = useAction(async () => {
    const made = await call("POST /badges", { body: { name: name.peek().trim(), ref: ref.peek().trim() || null, label: label.peek().trim() || null } });
    refresh("badges");
    toast(`The badge ${made.label} is made`);
  });
  const wrong = making.failure.value?.fields ?? {};
  return (
    <FormSheet title="Make a badge" submit="Make it" action={making} disabled={name.value.trim() === ""} onClose={onClose}>
      <Field first label="Name of the jobs" of={name} maxLength={255} placeholder="blinky" suggestions={names} hint="As the pipeline has it." wrong={wrong["name"]} />
      <Field label="Ref" of={ref} placeholder="main" hint="Empty: jobs of every ref count." wrong={wrong["ref"]} />
      <Field label="Label" of={label} placeholder={name.value.trim() || "bench"} hint="What the picture says on the left. Empty: the name." wrong={wrong["label"]} />
    </FormSheet>
  );
}
