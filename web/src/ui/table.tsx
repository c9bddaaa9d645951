// A table of things. The first column names the thing; on phones a row becomes a card.
import type { ComponentChildren, Key } from "preact";
import type { Pages } from "../api/pages.ts";
import { Button } from "./button.tsx";
import { Trouble } from "./states.tsx";

export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Numbers and times stand on the right. */
  readonly right?: boolean;
  /** May take several lines. */
  readonly wide?: boolean;
  /** The heading is only for those who cannot see the column. */
  readonly unnamed?: boolean;
  /** On phones, where rows become cards, the heading stands before the value: for values that do not speak for themselves. */
  readonly named?: boolean;
  /** Left out on phones. */
  readonly wideScreensOnly?: boolean;
}

export function Table<T>({ label, rows, columns, keyOf, chosen, class: name = "" }: {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => Key;
  /** The row that something beside the table shows. */
  chosen?: ((row: T) => boolean) | undefined;
  class?: string;
}) {
  const classOf = ({ right, wide, named, wideScreensOnly }: Column<T>): string => [right && "right", wide && "wide", named && "named", wideScreensOnly && "wide-screens-only"].filter(Boolean).join(" ");
  return (
    <table class={`list ${name}`} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => <th key={column.name} scope="col" class={classOf(column)}>{column.unnamed ? <span class="hidden">{column.name}</span> : column.name}</th>)}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} aria-current={chosen?.(row) ? "true" : undefined}>
            {columns.map((column, i) => (i === 0 ? <th key={column.name} scope="row">{column.cell(row)}</th> : <td key={column.name} class={classOf(column)} data-name={column.named ? column.name : undefined}>{column.cell(row)}</td>))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Below a table that the server gives in pages. */
export function More<T>({ pages: { hasMore, more } }: { pages: Pages<T> }) {
  if (!hasMore) return null;
  return (
    <div class="more">
      <Trouble failure={more.failure.value} />
      <Button label="Show older ones" action={more} />
    </div>
  );
}
