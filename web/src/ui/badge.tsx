// A state in a word. Colour only repeats what the word says.
import type { ComponentChildren } from "preact";

export type Tone = "ok" | "warn" | "bad" | "info" | "quiet";

export const Badge = ({ tone, title, children }: { tone: Tone; title?: string | undefined; children: ComponentChildren }) => (
  <span class={`badge ${tone}`} title={title}>{children}</span>
);
