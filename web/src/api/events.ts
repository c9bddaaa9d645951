// What happens in the organisation, as the server says it: one stream for all pages of this tab, while somebody is signed in
// and the tab is seen. While it cannot be had, pages ask again and again.
import { effect, signal, untracked } from "@preact/signals";
import { EventReader, type Happened, concerns } from "../model/events.ts";
import { Failure, lines, request, url } from "./client.ts";
import { outdate, told } from "./resource.ts";
import { session } from "./session.ts";

/** What happens within this time is read once. */
const TOGETHER_MS = 100;
/** A comment comes every 15 s: a line that says nothing for so long is dead. */
const SILENCE_MS = 40_000;
const WAIT_MS = 1000;
const WAIT_MS_MAX = 30_000;
/** Browsers open six connections to a server at most: a tab that is not seen lets go of its own. */
const HIDDEN_MS = 10_000;

/** Something waits for what happens, also while the tab is not seen. */
export const staysOpen = signal(false);

const listeners = new Set<(happened: Happened) => void>();
let place: string | undefined;
let stop: AbortController | undefined;
let waiting: Happened[] = [];

/** For what has to know more than that something is to be read again. */
export const onHappened = (listener: (happened: Happened) => void): unknown => listeners.add(listener);

/** Follows what happens from now on, as long as there is a session. */
export function followEvents(): void {
  let hidden = 0;
  effect(() => {
    const isIn = session.value !== undefined;
    untracked(() => {
      stop?.abort();
      stop = undefined;
      place = undefined;
      waiting = [];
      told.value = false;
      if (isIn) open();
    });
  });
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hidden);
    if (document.hidden) hidden = setTimeout(() => staysOpen.peek() || close(), HIDDEN_MS);
    else if (session.peek() && !stop) open();
  });
  // What the browser knows sooner than the line: then the pages show it, too.
  for (const change of ["offline", "online"])
    addEventListener(change, () => {
      if (!stop) return;
      close();
      open();
    });
}

function open(): void {
  stop = new AbortController();
  void follow(stop.signal);
}

function close(): void {
  stop?.abort();
  stop = undefined;
  tell(false);
}

function tell(isTold: boolean): void {
  if (told.peek() === isTold) return;
  told.value = isTold;
  if (!isTold) outdate(() => true);
}

async function follow(ended: AbortSignal): Promise<void> {
  let wait = WAIT_MS;
  while (!ended.aborted) {
    try {
      await hear(ended, () => (wait = WAIT_MS));
    } catch (error) {
      if (error instanceof Failure && error.status === 401) return;
    }
    if (ended.aborted) return;
    tell(false);
    await new Promise((later) => setTimeout(later, wait));
    wait = Math.min(wait * 2, WAIT_MS_MAX);
  }
}

async function hear(ended: AbortSignal, begun: () => void): Promise<void> {
  const line = new AbortController();
  const give = (): void => line.abort();
  ended.addEventListener("abort", give);
  let silence = 0;
  const alive = (): void => {
    clearTimeout(silence);
    silence = setTimeout(give, SILENCE_MS);
  };
  try {
    alive();
    const response = await request(url("GET /events", {}, { after: place }), { headers: { accept: "text/event-stream" }, cache: "no-store", signal: line.signal });
    begun();
    // A new stream begins with an event; one that goes on says nothing as long as nothing has happened.
    if (place !== undefined) tell(true);
    const reader = new EventReader();
    for await (const batch of lines(response)) {
      alive();
      for (const text of batch) {
        const happened = reader.line(text);
        if (happened && !ended.aborted) take(happened);
      }
    }
  } finally {
    clearTimeout(silence);
    ended.removeEventListener("abort", give);
    line.abort();
  }
}

function take(happened: Happened): void {
  if (happened.kind === "end") return;
  place = happened.place;
  if (happened.kind === "ready" || happened.kind === "reset") {
    tell(true);
    outdate(() => true);
    return;
  }
  for (const listener of listeners) listener(happened);
  if (waiting.push(happened) === 1) setTimeout(pass, TOGETHER_MS);
}

function pass(): void {
  const all = waiting;
  waiting = [];
  outdate((key) => all.some((happened) => concerns(key, happened)));
}
