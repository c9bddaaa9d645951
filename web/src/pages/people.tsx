// Who may do something here: users, who holds devices, which CI runs are let in.
import type { ComponentChildren } from "preact";
import { Head } from "../ui/head.tsx";
import { Empty } from "../ui/states.tsx";
import { LinkTabs } from "../ui/tabs.tsx";
import { Leases } from "./leases.tsx";
import { Trust } from "./trust.tsx";
import { Users } from "./user-list.tsx";

interface PeopleTab {
  readonly id: string;
  readonly name: string;
  readonly show: () => ComponentChildren;
}

const TABS: readonly PeopleTab[] = [
  { id: "users", name: "Users", show: () => <Users /> },
  { id: "leases", name: "Leases", show: () => <Leases /> },
  { id: "trust", name: "CI trust", show: () => <Trust /> },
];

const address = (id: string): string => (id === TABS[0]!.id ? "/people" : `/people/${id}`);

export default function PeoplePage({ tab }: { tab: string }) {
  const shown = TABS.find(({ id }) => id === tab);
  return (
    <main class="page tabbed">
      <Head title="People" />
      <LinkTabs label="People" tabs={TABS.map(({ id, name }) => ({ to: address(id), name }))} current={address(tab)} />
      {shown ? shown.show() : <Empty icon="people" title="No such tab"><p><a href="/people">Back to the users</a></p></Empty>}
    </main>
  );
}
