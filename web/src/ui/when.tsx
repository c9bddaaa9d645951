// How long ago something was, or how long it takes, with the exact time for those who want it. It grows while it is seen.
import { signal } from "@preact/signals";
import { serverNow } from "../api/client.ts";
import { ago, between } from "./time.ts";

const TICK_MS = 5000;
let timer = 0;

/** The time of the server, every few seconds while anything shows an age. */
const now = signal(0, {
  watched() {
    this.value = serverNow();
    timer = setInterval(() => (this.value = serverNow()), TICK_MS);
  },
  unwatched: () => clearInterval(timer),
});

/** What is newer than the last tick is not in the future. */
const latest = (): number => Math.max(now.value, serverNow());

export const Ago = ({ iso }: { iso: string | null | undefined }) => (iso ? <time dateTime={iso} title={new Date(iso).toLocaleString()}>{ago(iso, latest())}</time> : <span>never</span>);

export const Took = ({ from, to }: { from: string | null; to: string | null }) => <>{between(from, to, to ? 0 : latest())}</>;
