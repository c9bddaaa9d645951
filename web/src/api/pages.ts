// A list that the server gives in pages: the first one is read again and again, older ones once, when they are asked for.
import { useSignal } from "@preact/signals";
import { type Action, useAction } from "./action.ts";
import { type Resource, useResource } from "./resource.ts";

export interface Page<T> {
  readonly rows: readonly T[];
  readonly next?: string | undefined;
}

export interface Pages<T> {
  readonly first: Resource<Page<T>>;
  /** What is known of the list, newest first. */
  readonly rows: readonly T[];
  readonly hasMore: boolean;
  readonly more: Action<[]>;
}

export function usePages<T extends { readonly id: string }>(key: string, read: (cursor: string | undefined, signal?: AbortSignal) => Promise<Page<T>>, everyMs = 0): Pages<T> {
  const first = useResource(key, (signal) => read(undefined, signal), everyMs);
  const older = useSignal<{ readonly key: string; readonly rows: readonly T[]; readonly next: string | undefined } | undefined>(undefined);
  const known = older.value?.key === key ? older.value : undefined;
  const next = known ? known.next : first.data.value?.next;
  const more = useAction(async () => {
    const page = await read(next);
    older.value = { key, rows: [...(known?.rows ?? first.data.peek()?.rows ?? []), ...page.rows], next: page.next };
  });
  return { first, rows: merged(first.data.value?.rows ?? [], known?.rows ?? []), hasMore: next !== undefined, more };
}

/** The newest state of each, in the order of the list. */
function merged<T extends { readonly id: string }>(fresh: readonly T[], older: readonly T[]): readonly T[] {
  const ids = new Set(fresh.map(({ id }) => id));
  return [...fresh, ...older.filter(({ id }) => !ids.has(id))];
}
