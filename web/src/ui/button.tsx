// What is pressed. A link that looks like a button is a plain `<a class="button">`.
import type { Action } from "../api/action.ts";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps {
  icon?: IconName | undefined;
  label: string;
  onClick?: (() => void) | undefined;
  disabled?: boolean | undefined;
  /** Why it is disabled, or what it does beyond its label. */
  title?: string | undefined;
  kind?: "" | "main" | "danger" | undefined;
  /** Only the icon is shown; the label is for those who cannot see it. */
  hidden?: boolean | undefined;
  pressed?: boolean | undefined;
  expanded?: boolean | undefined;
  /** It is being done: the button says so and takes no second press. */
  busy?: boolean | undefined;
  /** What it does, in place of `busy` and `onClick`. */
  action?: Action<[]> | undefined;
  type?: "button" | "submit" | undefined;
}

export const Button = ({ icon, label, action, onClick = action && (() => void action.run()), disabled, title, kind = "", hidden = false, pressed, expanded, busy = action?.busy.value ?? false, type = "button" }: ButtonProps) => (
  <button type={type} class={`button ${kind}${hidden ? " only-icon" : ""}`} onClick={onClick} disabled={disabled || busy} title={title ?? (hidden ? label : undefined)} aria-label={hidden ? label : undefined} aria-pressed={pressed} aria-expanded={expanded} aria-busy={busy || undefined}>
    {busy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
    {!hidden && label}
  </button>
);

/** Buttons at the end of a form or a sheet. */
export const Submit = ({ label, busy, disabled, kind = "main" }: { label: string; busy: boolean; disabled?: boolean; kind?: "main" | "danger" }) => (
  <Button type="submit" kind={kind} label={label} busy={busy} disabled={disabled} />
);
