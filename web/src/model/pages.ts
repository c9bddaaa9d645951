// A list that the server gives in pages, newest first. Pure.

export interface Page<T> {
  readonly rows: readonly T[];
  /** The cursor of the rows behind these; undefined when there are none. */
  readonly next?: string | undefined;
}

/** What is known of a list: its first page as it is now, and behind the last row of that what was read before, `older`. */
export function joined<T extends { readonly id: string }>(fresh: Page<T>, older: Page<T> | undefined): Page<T> {
  if (!older || fresh.next === undefined) return fresh;
  const ids = new Set(fresh.rows.map(({ id }) => id));
  const last = older.rows.findLastIndex(({ id }) => ids.has(id));
  // With more new rows than a page has, those between are not known: they are read again.
  return last < 0 && fresh.rows.length > 0 ? fresh : { rows: [...fresh.rows, ...older.rows.slice(last + 1)], next: older.next };
}
