// A list of any length of which only what is on the screen is in the document.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Scroll } from "../model/virtual.ts";

export interface RowsHandle {
  /** Brings a row into the middle, or to the top. */
  show(row: number, where?: "middle" | "top"): void;
}

export function Rows({ count, rowHeight, label, role, render, handle, follow = false, edition = 0 }: {
  count: number;
  rowHeight: number;
  label: string;
  role: "log" | "table";
  render: (row: number) => ComponentChildren;
  handle?: { current: RowsHandle | null };
  /** Stays at the end while the list grows, until a person scrolls up. */
  follow?: boolean;
  /** Changes when rows changed that are there already. */
  edition?: number;
}) {
  const scroll = useMemo(() => new Scroll(rowHeight), [rowHeight]);
  const outer = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
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

  if (handle)
    handle.current = {
      show(row, where = "middle") {
        const element = outer.current!;
        const top = scroll.topFor(row, element.clientHeight, where);
        body.current!.style.height = `${scroll.height}px`;
        element.scrollTop = top;
        look({ top, viewport: element.clientHeight });
      },
    };

  return (
    <div class="rows" ref={outer} role={role} aria-label={label} aria-rowcount={role === "table" ? count : undefined} tabIndex={0} onScroll={({ currentTarget: element }) => {
      atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
      look({ top: element.scrollTop, viewport: element.clientHeight });
    }}>
      <div class="all" ref={body}>
        <div class="there" ref={list} role={role === "table" ? "rowgroup" : undefined}>
          {Array.from({ length: Math.max(0, last - first) }, (_, i) => render(first + i))}
        </div>
      </div>
    </div>
  );
}
