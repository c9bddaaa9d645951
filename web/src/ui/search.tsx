// A field that filters what is below it.
import type { ComponentChildren } from "preact";
import { query, setQuery } from "../router.ts";
import { Icon } from "./icon.tsx";

export const Search = ({ label, value, onInput, note, onKeyDown }: { label: string; value: string; onInput: (value: string) => void; note?: ComponentChildren; onKeyDown?: (event: KeyboardEvent) => void }) => (
  <span class="search">
    <Icon name="search" />
    <input type="search" aria-label={label} placeholder={label} value={value} onInput={(event) => onInput(event.currentTarget.value)} onKeyDown={onKeyDown} />
    {note && <span class="small" role="status">{note}</span>}
  </span>
);

/** The same, kept in the address as `q`, so that a link shows what its sender saw. */
export const Filter = ({ label }: { label: string }) => <Search label={label} value={query.value.get("q") ?? ""} onInput={(q) => setQuery({ q })} />;

/** Whether the words of the filter in the address are all in `text`, in letters of any case. */
export function passes(text: string): boolean {
  const words = (query.value.get("q") ?? "").toLowerCase().split(/\s+/);
  const whole = text.toLowerCase();
  return words.every((word) => whole.includes(word));
}
