// Settings of the organisation: secrets of jobs, webhooks, badges.
import type { ComponentChildren } from "preact";
import { Head } from "../ui/head.tsx";
import { Empty } from "../ui/states.tsx";
import { LinkTabs } from "../ui/tabs.tsx";
import { Badges } from "./badges.tsx";
import { Secrets } from "./secrets.tsx";
import { Webhooks } from "./webhooks.tsx";

interface SettingsTab {
  readonly id: string;
  readonly name: string;
  readonly show: () => ComponentChildren;
}

const TABS: readonly SettingsTab[] = [
  { id: "secrets", name: "Secrets", show: () => <Secrets /> },
  { id: "webhooks", name: "Webhooks", show: () => <Webhooks /> },
  { id: "badges", name: "Badges", show: () => <Badges /> },
];

const address = (id: string): string => (id === TABS[0]!.id ? "/settings" : `/settings/${id}`);

export default function SettingsPage({ tab }: { tab: string }) {
  const shown = TABS.find(({ id }) => id === tab);
  return (
    <main class="page tabbed">
      <Head title="Settings" />
      <LinkTabs label="Settings" tabs={TABS.map(({ id, name }) => ({ to: address(id), name }))} current={address(tab)} />
      {shown ? shown.show() : <Empty icon="settings" title="No such tab"><p><a href="/settings">Back to the secrets</a></p></Empty>}
    </main>
  );
}
