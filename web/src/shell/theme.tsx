// Light, dark, or what the system has. `theme.ts` at the root applies the choice before the first paint.
import { signal } from "@preact/signals";
import { useId } from "preact/hooks";

const KEY = "hostd.theme";
const root = document.documentElement;

/** "light", "dark" or "", which is the system's. Canvases follow it. */
export const theme = signal(root.dataset["theme"] ?? "");

function choose(next: string): void {
  theme.value = next;
  if (next === "") {
    delete root.dataset["theme"];
    localStorage.removeItem(KEY);
  } else {
    root.dataset["theme"] = next;
    localStorage.setItem(KEY, next);
  }
}

export function Colours() {
  const id = useId();
  return (
    <span class="theme">
      <label class="hidden" for={id}>Colours</label>
      <select id={id} value={theme.value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">Colours of the system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </span>
  );
}
