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

/** Posts `body` to an address below /api; the answer is JSON. */
export function upload<T>(address: string, body: Blob | FormData): Upload<T> {
  const share = signal(0);
  const request = new XMLHttpRequest();
  const done = new Promise<T>((resolve, reject) => {
    request.open("POST", address);
    request.setRequestHeader("accept", "application/json");
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
