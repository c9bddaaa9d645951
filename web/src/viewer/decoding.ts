// What a decoder says of a capture, as the server streams it.
import { lines, request, url } from "../api/client.ts";
import type { Decoding } from "../model/decoding.ts";

export interface Said {
  readonly start: number;
  readonly end: number;
  readonly class: string;
  readonly text: string;
}

/** So many events of a decoder are kept in the page. */
export const EVENTS_MAX = 400_000;

/** Batches as they arrive. */
export async function* decode(capture: string, { protocol, channels, options }: Decoding, annotations: string | undefined, signal: AbortSignal): AsyncGenerator<readonly Said[]> {
  const address = url("GET /capture/{id}/decode", { id: capture }, { protocol, ...channels, ...options, annotations, limit: EVENTS_MAX });
  for await (const batch of lines(await request(address, { signal }))) yield batch.map((line) => JSON.parse(line) as Said);
}
