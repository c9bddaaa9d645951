// Sending a file: `fetch` does not say how much has arrived, and for megabytes people want to know.
import { signal } from "@preact/signals";
import { Failure, lostSince } from "./client.ts";
import type { Error as Refusal } from "./schema.ts";

export interface Upload<T> {
  /** From 0 to 1; the server may still work on it afterwards. */
  readonly share: { readonly value: number };
  readonly done: Promise<T>;
  stop(): void;
}

export interface How {
  readonly method?: "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends `body` to an address below /api; the answer is JSON. */
export function upload<T>(address: string, body: Blob | FormData, { method = "POST", headers = {} }: How = {}): Upload<T> {
  const share = signal(0);
  const request = new XMLHttpRequest();
  const done = new Promise<T>((resolve, reject) => {
    request.open(method, address);
    request.setRequestHeader("accept", "application/json");
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (body instanceof Blob) request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = ({ loaded, total }) => (share.value = total > 0 ? loaded / total : 0);
    request.onload = () => {
      lostSince.value = undefined;
      const answer = parsed(request.responseText);
      if (request.status >= 200 && request.status < 300) resolve(answer as T);
      else reject(new Failure(request.status, answer as Partial<Refusal>));
    };
    request.onerror = () => reject(new Failure(0, {}));
    request.onabort = () => reject(new Failure(0, { error: "it was stopped", code: "stopped" }));
    request.send(body);
  });
  return { share, done, stop: () => request.abort() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
