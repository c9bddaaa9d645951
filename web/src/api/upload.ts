// Sending a file: `fetch` does not say how much has arrived, and for megabytes people want to know.
import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Failure, lostSince } from "./client.ts";
import type { Error as Refusal } from "./schema.ts";

export interface How {
  readonly method?: "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  /** Stops it. */
  readonly signal?: AbortSignal;
  /** Called with what has been sent, from 0 to 1; the server may still work on it afterwards. */
  readonly onShare?: (share: number) => void;
}

/** Sends `body` to an address below /api; the answer is JSON. One that is stopped fails with the code `stopped`. */
export function upload<T>(address: string, body: Blob | FormData, { method = "POST", headers = {}, signal: stop, onShare }: How = {}): Promise<T> {
  const request = new XMLHttpRequest();
  return new Promise<T>((resolve, reject) => {
    const stopped = (): void => reject(new Failure(0, { error: "it was stopped", code: "stopped" }));
    if (stop?.aborted) return stopped();
    request.open(method, address);
    request.setRequestHeader("accept", "application/json");
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (body instanceof Blob) request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = ({ loaded, total }) => onShare?.(total > 0 ? loaded / total : 0);
    request.onload = () => {
      lostSince.value = undefined;
      const answer = parsed(request.responseText);
      if (request.status >= 200 && request.status < 300) resolve(answer as T);
      else reject(new Failure(request.status, answer as Partial<Refusal>));
    };
    request.onerror = () => reject(new Failure(0, {}));
    request.onabort = stopped;
    stop?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

export interface Sending {
  /** From 0 to 1; undefined while nothing is sent. */
  readonly share: ReadonlySignal<number | undefined>;
  /** Aborted when the component goes: for the requests around an upload. */
  readonly signal: AbortSignal;
  send<T>(address: string, body: Blob | FormData, how?: Pick<How, "method" | "headers">): Promise<T>;
}

/** What a sheet or a page sends. It stops when that is closed. */
export function useUpload(): Sending {
  const [sending, stop] = useMemo(() => {
    const share = signal<number | undefined>(undefined);
    const controller = new AbortController();
    const made: Sending = {
      share,
      signal: controller.signal,
      send<T>(address: string, body: Blob | FormData, how: Pick<How, "method" | "headers"> = {}) {
        share.value = 0;
        return upload<T>(address, body, { ...how, signal: controller.signal, onShare: (sent) => (share.value = sent) }).finally(() => (share.value = undefined));
      },
    };
    return [made, controller];
  }, []);
  useEffect(() => () => stop.abort(), [stop]);
  return sending;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
