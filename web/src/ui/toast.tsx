// A line at the edge that says that something was done, or has ended by itself. What went wrong is said where it was asked for, not here.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

const SHOWN_MS = 6000;

interface Toast {
  readonly id: number;
  readonly text: ComponentChildren;
  readonly icon: IconName;
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;

export function toast(text: ComponentChildren, icon: IconName = "check"): void {
  const id = ++last;
  toasts.value = [...toasts.peek().slice(-2), { id, text, icon }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

const dismiss = (id: number): void => void (toasts.value = toasts.peek().filter((one) => one.id !== id));

/** Where they appear: once, in the shell. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, icon }) => (
      <div key={id} class="toast">
        <Icon name={icon} />
        <span>{text}</span>
        <button type="button" class="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}><Icon name="cross" /></button>
      </div>
    ))}
  </div>
);
