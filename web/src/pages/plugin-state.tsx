// How a plugin stands, in a word.
import type { PluginsPlugin } from "../api/schema.ts";
import { session } from "../api/session.ts";
import { Badge, type Tone } from "../ui/badge.tsx";

const STATES: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  active: ["Active", "ok"],
  loading: ["Loading", "info"],
  waiting: ["Waits for rights", "warn"],
  disabled: ["Disabled", "quiet"],
  failed: ["Failed", "bad"],
  "being removed": ["Being removed", "quiet"],
};

export function PluginState({ plugin: { state, reason } }: { plugin: PluginsPlugin }) {
  const [word, tone] = STATES[state] ?? [state, "quiet"];
  return <Badge tone={tone} title={reason}>{word}</Badge>;
}

/** The grant of the organisation of who is signed in. */
export const ownGrant = ({ grants }: PluginsPlugin) => grants.find(({ org }) => org === session.value?.org);
