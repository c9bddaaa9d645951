// What is asked again each time that what it is about changes, as while somebody types: the question before is dropped.
import { batch, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Failure, failureOf } from "./client.ts";

export interface Asked<T> {
  /** The last answer stays until there is another one; undefined where the last one is a failure. */
  readonly data: T | undefined;
  readonly failure: Failure | undefined;
  again(): void;
}

/** Asks when nothing of `about` has changed for `pauseMs`. Where `ask` returns undefined there is nothing to be asked. */
export function useAsked<T>(ask: (signal: AbortSignal) => Promise<T> | undefined, about: readonly unknown[], pauseMs = 0): Asked<T> {
  const [data, failure, attempt] = [useSignal<T | undefined>(undefined), useSignal<Failure | undefined>(undefined), useSignal(0)];
  useEffect(() => {
    const stop = new AbortController();
    const answered = (found: T | undefined, why?: Failure): void => {
      if (stop.signal.aborted) return;
      batch(() => {
        data.value = found;
        failure.value = why;
      });
    };
    const timer = setTimeout(() => {
      const asked = ask(stop.signal);
      if (asked) asked.then(answered, (error: unknown) => answered(undefined, failureOf(error)));
      else answered(undefined);
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [...about, attempt.value]);
  return { data: data.value, failure: failure.value, again: () => void attempt.value++ };
}
