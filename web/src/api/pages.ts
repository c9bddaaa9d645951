// A list that the server gives in pages: the first one is read again and again, older ones once, when they are asked for.
import { useSignal } from "@preact/signals";
import { type Page, joined } from "../model/pages.ts";
import { type Action, useAction } from "./action.ts";
import { type Resource, useResource } from "./resource.ts";

export interface Pages<T> {
  readonly first: Resource<Page<T>>;
  /** What is known of the list, newest first. */
  readonly rows: readonly T[];
  readonly hasMore: boolean;
  readonly more: Action<[]>;
}

export function usePages<T extends { readonly id: string }>(key: string, read: (cursor: string | undefined, signal?: AbortSignal) => Promise<Page<T>>, everyMs = 0): Pages<T> {
  const first = useResource(key, (signal) => read(undefined, signal), everyMs);
  const older = useSignal<(Page<T> & { readonly key: string }) | undefined>(undefined);
  const known = joined(first.data.value ?? { rows: [] }, older.value?.key === key ? older.value : undefined);
  const more = useAction(async () => {
    const page = await read(known.next);
    older.value = { key, rows: [...known.rows, ...page.rows], next: page.next };
  });
  return { first, rows: known.rows, hasMore: known.next !== undefined, more };
}
