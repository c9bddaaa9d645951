// Something read from the server: what is known, since when, and what went wrong last.
import { type ReadonlySignal, type Signal, batch, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { isTold } from "../model/events.ts";
import { type Answer, type Endpoint, Failure, type Given, call, failureOf } from "./client.ts";

export interface Resource<T> {
  readonly data: ReadonlySignal<T | undefined>;
  readonly failure: ReadonlySignal<Failure | undefined>;
  /** When `data` was read, in milliseconds of the page's clock. */
  readonly at: ReadonlySignal<number>;
  reload(): Promise<void>;
}

/** What was read stays for pages that are opened again: they show it at once, and read it again. */
const KEPT_MAX = 64;
const kept = new Map<string, Reading<unknown>>();

/** So often an unreachable server is tried. */
const RETRY_MS = 2000;

/** Forgets everything, since somebody else may sign in. */
export const forgetAll = (): void => kept.clear();

/** Reads again what is shown and whose key begins with `prefix`: for what an action or an event has changed. */
export function refresh(prefix: string): void {
  for (const [key, reading] of kept) if (key.startsWith(prefix) && reading.isFollowed) void reading.reload();
}

/** Whether the server says what happens: then only what it does not tell of is asked for again and again. */
export const told = signal(false);

/** What is shown and is no longer as it was: it is read again, once it is seen. */
export function outdate(isMeant: (key: string) => boolean): void {
  for (const [key, reading] of kept) if (isMeant(key)) reading.outdate();
}

/**
 * Reads when the page opens, when events say that it has changed, and every `everyMs` while it can be seen: where events do
 * not tell of it, or not of its progress. What was read stays while reading fails.
 * The key names what is read, with everything that the read depends on: `device 01M8`, not `device`.
 */
export function useResource<T>(key: string, read: (signal: AbortSignal) => Promise<T>, everyMs = 0, isProgress = false): Resource<T> {
  const resource = useMemo(() => reading(key, read), [key]);
  useEffect(() => resource.follow({ everyMs, isAlways: isProgress || !isTold(key) }), [resource, everyMs, isProgress]);
  return resource;
}

/** What an endpoint answers. */
export const useGet = <E extends Endpoint & `GET ${string}`>(key: string, endpoint: E, given?: Given<E>, everyMs = 0, isProgress = false): Resource<Answer<E>> =>
  useResource(key, (signal) => call(endpoint, given, signal), everyMs, isProgress);

interface Follower {
  readonly everyMs: number;
  /** Also while events tell of changes. */
  readonly isAlways: boolean;
}

function reading<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Reading<T> {
  const known = (kept.get(key) as Reading<T> | undefined) ?? new Reading<T>();
  known.read = read;
  kept.delete(key);
  kept.set(key, known as Reading<unknown>);
  for (const [old, { isFollowed }] of kept) {
    if (kept.size <= KEPT_MAX) break;
    if (!isFollowed) kept.delete(old);
  }
  return known;
}

class Reading<T> implements Resource<T> {
  readonly data: Signal<T | undefined> = signal(undefined);
  readonly failure: Signal<Failure | undefined> = signal(undefined);
  readonly at = signal(0);
  read: (signal: AbortSignal) => Promise<T> = () => Promise.reject(new Error("nothing is read"));
  #followers: Follower[] = [];
  #request = new AbortController();
  #isReading = false;
  #isOutdated = false;
  #timer = 0;

  get isFollowed(): boolean {
    return this.#followers.length > 0;
  }

  async reload(): Promise<void> {
    this.#request.abort();
    clearTimeout(this.#timer);
    const request = (this.#request = new AbortController());
    this.#isReading = true;
    this.#isOutdated = false;
    try {
      const data = await this.read(request.signal);
      if (request.signal.aborted) return;
      batch(() => {
        this.data.value = data;
        this.failure.value = undefined;
        this.at.value = performance.now();
      });
    } catch (error) {
      if (request.signal.aborted) return;
      this.failure.value = failureOf(error);
    } finally {
      if (this.#request === request) this.#isReading = false;
    }
    if (this.#isOutdated) this.outdate();
    else this.#plan();
  }

  /** What is on its way comes first: it may be older than what has happened. */
  outdate(): void {
    if (!this.isFollowed) return;
    this.#isOutdated = true;
    if (!document.hidden && !this.#isReading) void this.reload();
  }

  follow(follower: Follower): () => void {
    this.#followers.push(follower);
    if (this.#followers.length === 1) {
      document.addEventListener("visibilitychange", this.#seen);
      void this.reload();
    }
    return () => {
      this.#followers.splice(this.#followers.indexOf(follower), 1);
      if (this.isFollowed) return;
      document.removeEventListener("visibilitychange", this.#seen);
      this.#request.abort();
      clearTimeout(this.#timer);
    };
  }

  #seen = (): void => {
    if (!document.hidden && (this.#isOutdated || this.#every() > 0 || this.failure.peek())) void this.reload();
  };

  /** The shortest time that anybody wants, and a retry for those that read once. */
  #every(): number {
    const failure = this.failure.peek();
    const isAll = !told.peek() || (failure !== undefined && (failure.status === 0 || failure.status >= 500));
    const wanted = this.#followers.filter(({ everyMs, isAlways }) => everyMs > 0 && (isAll || isAlways)).map(({ everyMs }) => everyMs);
    return wanted.length ? Math.min(...wanted) : failure?.code === "no_answer" ? RETRY_MS : 0;
  }

  #plan(): void {
    const every = this.#every();
    if (every > 0 && this.isFollowed && !document.hidden) this.#timer = setTimeout(() => void this.reload(), every);
  }
}
