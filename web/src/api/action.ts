// Something that a person asks the server to do: whether it is on its way, and what went wrong.
import { type ReadonlySignal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Failure, failureOf } from "./client.ts";

export interface Action<A extends readonly unknown[]> {
  readonly busy: ReadonlySignal<boolean>;
  /** What went wrong the last time; gone with the next attempt. */
  readonly failure: ReadonlySignal<Failure | undefined>;
  /** Does it, unless it is on its way already. Resolves to whether it succeeded. */
  run(...given: A): Promise<boolean>;
  forget(): void;
}

/** `work` may use what the component knows when it is called: the newest one runs. */
export function useAction<A extends readonly unknown[]>(work: (...given: A) => Promise<unknown>): Action<A> {
  const doing = useMemo(() => new Doing<A>(), []);
  doing.work = work;
  return doing;
}

class Doing<A extends readonly unknown[]> implements Action<A> {
  readonly busy = signal(false);
  readonly failure = signal<Failure | undefined>(undefined);
  work: (...given: A) => Promise<unknown> = () => Promise.resolve();

  async run(...given: A): Promise<boolean> {
    if (this.busy.peek()) return false;
    this.busy.value = true;
    this.failure.value = undefined;
    try {
      await this.work(...given);
      return true;
    } catch (error) {
      this.failure.value = failureOf(error);
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  forget(): void {
    this.failure.value = undefined;
  }
}
