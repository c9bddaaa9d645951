// Switches a thing in the world: it shows what is, not what was asked for, until the answer has come.
export function Switch({ on, label, busy, refused, onChange }: {
  /** Undefined while it is not known. */
  on: boolean | undefined;
  label: string;
  busy: boolean;
  /** Why it cannot be switched now. */
  refused?: string | undefined;
  onChange: (on: boolean) => void;
}) {
  return (
    <button type="button" role="switch" class="switch" aria-checked={on === true} aria-label={label} aria-busy={busy} disabled={busy || on === undefined || refused !== undefined} title={refused} onClick={() => onChange(!on)}>
      <span class="track" aria-hidden="true" />
      <span class="word">{busy ? "Switching…" : on === undefined ? "Unknown" : on ? "On" : "Off"}</span>
    </button>
  );
}
