// The phases of something that takes a while, one after the other.
import { Icon, type IconName } from "./icon.tsx";

export interface StepShown {
  readonly name: string;
  readonly state: "waiting" | "running" | "done" | "failed";
}

const ICONS: Readonly<Record<StepShown["state"], IconName>> = { waiting: "dots", running: "play", done: "check", failed: "cross" };
const WORDS: Readonly<Record<StepShown["state"], string>> = { waiting: "to come", running: "under way", done: "done", failed: "failed" };

export const Steps = ({ label, steps }: { label: string; steps: readonly StepShown[] }) => (
  <ol class="steps" aria-label={label}>
    {steps.map(({ name, state }) => (
      <li key={name} class={state} aria-current={state === "running" ? "step" : undefined}>
        <Icon name={ICONS[state]} /> {name}<span class="hidden">, {WORDS[state]}</span>
      </li>
    ))}
  </ol>
);
