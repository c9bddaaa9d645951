// What a decoder says of a capture, as the server streams it.
import { call, lines, request, url } from "../api/client.ts";
import type { Decoding } from "../model/decoding.ts";

export interface Said {
  readonly start: number;
  readonly end: number;
  readonly class: string;
  readonly text: string;
  readonly value?: number;
}

/** So many events of a decoder are kept in the page. */
export const EVENTS_MAX = 400_000;

/** Which samples, and how many events at most. */
interface Part {
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
}

/** Batches as they arrive. */
export async function* decode(capture: string, { protocol, channels, options }: Decoding, annotations: string | undefined, signal: AbortSignal, part: Part): AsyncGenerator<readonly Said[]> {
  const address = url("GET /capture/{id}/decode", { id: capture }, { protocol, ...channels, ...options, annotations, ...part });
  for await (const batch of lines(await request(address, { signal }))) yield batch.map((line) => JSON.parse(line) as Said);
}

/** Stretches of a view whose events are counted. */
const STRETCHES = 1000;

/** How many events of each class begin in each of equal stretches. */
export async function density(capture: string, { protocol, channels, options }: Decoding, from: number, to: number, signal: AbortSignal): Promise<Readonly<Record<string, readonly number[]>>> {
  const query = { protocol, ...channels, ...options, from, to, summary: STRETCHES };
  const { classes } = await call("GET /capture/{id}/decode", { path: { id: capture }, query }, signal);
  return Object.fromEntries(Object.entries(classes).filter(([kind]) => !/(^|-)(bit|data-bits?)$/.test(kind)));
}
