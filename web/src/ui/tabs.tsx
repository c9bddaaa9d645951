// Tabs that are links, each with an address of its own, and tabs of a panel in place.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface TabLink {
  readonly to: string;
  readonly name: string;
  readonly note?: ComponentChildren;
}

export function LinkTabs({ label, tabs, current }: { label: string; tabs: readonly TabLink[]; current: string }) {
  const nav = useRef<HTMLElement>(null);
  // On phones not all of them may be seen: the current one is.
  useEffect(() => nav.current!.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [current]);
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map(({ to, name, note }) => (
        <a key={to} href={to} aria-current={to === current ? "page" : undefined}>{name}{note !== undefined && <span class="small">{note}</span>}</a>
      ))}
    </nav>
  );
}

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly name: string;
  readonly note?: ComponentChildren;
}

export function Tabs<Id extends string>({ label, tabs, current, onChoose }: { label: string; tabs: readonly Tab<Id>[]; current: Id; onChoose: (id: Id) => void }) {
  const move = (event: KeyboardEvent, by: number): void => {
    const at = tabs.findIndex(({ id }) => id === current);
    const next = tabs[(at + by + tabs.length) % tabs.length]!;
    event.preventDefault();
    onChoose(next.id);
    (event.currentTarget as HTMLElement).parentElement!.querySelectorAll<HTMLElement>('[role="tab"]')[tabs.indexOf(next)]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {tabs.map(({ id, name, note }) => (
        <button key={id} type="button" role="tab" aria-selected={id === current} tabIndex={id === current ? 0 : -1} onClick={() => onChoose(id)} onKeyDown={(event) => {
          if (event.key === "ArrowRight") move(event, 1);
          if (event.key === "ArrowLeft") move(event, -1);
        }}>
          {name}
          {note !== undefined && <span class="small">{note}</span>}
        </button>
      ))}
    </div>
  );
}
