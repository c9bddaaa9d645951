// A list of any length of which only what is on the screen is in the document.
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Scroll } from "../model/virtual.ts";

export interface RowsHandle {
  /** Brings a row into the middle, or to the top. */
  show(row: number, where?: "middle" | "top"): void;
}

export function Rows({ count, rowHeight, label, role, render, handle, follow = false, edition = 0, onOpen }: {
  count: number;
  rowHeight: number;
  label: string;
  /** Rows of a grid are chosen with the arrows and opened with Enter. */
  role: "log" | "grid";
  /** A row of a grid has the id and is marked when it is chosen. */
  render: (row: number, id: string, isChosen: boolean) => ComponentChildren;
  handle?: { current: RowsHandle | null };
  /** Stays at the end while the list grows, until a person scrolls up. */
  follow?: boolean;
  /** Changes when rows changed that are there already. */
  edition?: number;
  onOpen?: (row: number) => void;
}) {
  const scroll = useMemo(() => new Scroll(rowHeight), [rowHeight]);
  const outer = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const id = useId();
  const [chosen, choose] = useState(-1);
  const [seen, look] = useState({ top: 0, viewport: 600 });
  scroll.rows = count;
  const { first, last, y } = scroll.window(seen.top, seen.viewport);

  // Positions go in by script: the content security policy allows no style attribute.
  useLayoutEffect(() => {
    body.current!.style.height = `${scroll.height}px`;
    list.current!.style.transform = `translateY(${y}px)`;
    if (follow && atEnd.current) outer.current!.scrollTop = outer.current!.scrollHeight;
  }, [y, count, follow, edition]);

  useLayoutEffect(() => {
    const element = outer.current!;
    const observer = new ResizeObserver(() => look({ top: element.scrollTop, viewport: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const show = (row: number, where: "middle" | "top" = "middle"): void => {
    const element = outer.current;
    // It may be called when the rows are gone.
    if (!element) return;
    const top = scroll.topFor(row, element.clientHeight, where);
    body.current!.style.height = `${scroll.height}px`;
    element.scrollTop = top;
    look({ top, viewport: element.clientHeight });
  };
  if (handle) handle.current = { show };

  const isGrid = role === "grid";
  const press = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && count > 0) {
      // The first press begins with what is seen.
      const start = chosen >= first && chosen < last ? chosen + by : Math.min(count - 1, first + (seen.top > 0 ? 5 : 0));
      const next = Math.min(count - 1, Math.max(0, start));
      event.preventDefault();
      choose(next);
      show(next);
    }
    if (event.key === "Enter" && chosen >= 0 && chosen < count) onOpen?.(chosen);
  };

  return (
    <div class="rows" ref={outer} role={role} aria-label={label} aria-rowcount={isGrid ? count : undefined} aria-activedescendant={isGrid && chosen >= first && chosen < last ? `${id}-${chosen}` : undefined} tabIndex={0} onKeyDown={isGrid ? press : undefined} onScroll={({ currentTarget: element }) => {
      atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
      look({ top: element.scrollTop, viewport: element.clientHeight });
    }}>
      <div class="all" ref={body}>
        <div class="there" ref={list} role={isGrid ? "rowgroup" : undefined}>
          {Array.from({ length: Math.max(0, last - first) }, (_, i) => render(first + i, `${id}-${first + i}`, isGrid && first + i === chosen))}
        </div>
      </div>
    </div>
  );
}
