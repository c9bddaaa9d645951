// What the server computes of a stored capture: edges, measurements, searches. Samples are those of the viewer's axis;
// a slower channel counts its own.
import { type Answer, call } from "../api/client.ts";
import type { CapturesCapture, CapturesChannel } from "../api/schema.ts";

export type Measured = Answer<"GET /capture/{id}/measure">;
export type Found = Answer<"GET /capture/{id}/search">;

export class Lookups {
  readonly #id: string;
  readonly #channels: readonly CapturesChannel[];
  readonly #rate: number;

  constructor({ id, channels }: Pick<CapturesCapture, "id" | "channels">) {
    this.#id = id;
    this.#channels = channels;
    this.#rate = Math.max(...channels.map((channel) => channel.sample_rate_hz));
  }

  /** The nearest edge of a lane behind `sample`, or before it; undefined when there is none. */
  async edge(lane: number, sample: number, forward: boolean): Promise<number | undefined> {
    const channel = this.#channels[lane];
    if (channel?.type !== "digital") return undefined;
    const step = this.#rate / channel.sample_rate_hz;
    const at = Math.min(channel.samples, Math.max(0, Math.floor(sample / step) + (forward ? 1 : 0)));
    const found = await call("GET /capture/{id}/edges", { path: { id: this.#id }, query: { channel: channel.name, at, direction: forward ? "next" : "previous" } });
    return found.sample === null ? undefined : found.sample * step;
  }

  measure(lane: number, from: number, to: number, signal: AbortSignal): Promise<Measured> {
    const channel = this.#channels[lane]!;
    const step = this.#rate / channel.sample_rate_hz;
    const first = Math.min(channel.samples - 1, Math.max(0, Math.ceil(from / step)));
    const behind = Math.min(channel.samples, Math.max(first + 1, Math.ceil(to / step)));
    return call("GET /capture/{id}/measure", { path: { id: this.#id }, query: { channel: channel.name, from: first, to: behind } }, signal);
  }

  /** Places that a query finds; `skip` goes on behind those that are known. */
  async search(q: string, skip: number, limit: number, signal: AbortSignal): Promise<Found> {
    const found = await call("GET /capture/{id}/search", { path: { id: this.#id }, query: { q, limit, skip: skip || undefined } }, signal);
    const step = this.#rate / found.sample_rate_hz;
    return step === 1 ? found : { ...found, results: found.results.map((one) => ({ ...one, from: one.from * step, to: one.to * step })) };
  }
}
