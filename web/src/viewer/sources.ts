// Where the viewer's tiles come from: a stored capture, or one that is arriving.
import { type Answer, call, request, url } from "../api/client.ts";
import type { CapturesCaptureInFull, CapturesChannel } from "../api/schema.ts";
import { type Gap, masked } from "../model/gaps.ts";
import type { LiveCapture } from "../model/live.ts";
import { needFor, resampled } from "../model/resample.ts";
import { type Lane, type Part, type Tile, type TileSource, stretchesIn } from "../model/tiles.ts";
import { parseTiles } from "../model/wire.ts";

/** A capture with its channels, without samples. */
export const readCapture = (id: string, signal?: AbortSignal): Promise<Answer<"GET /capture/{id}">> => call("GET /capture/{id}", { path: { id }, query: { frames: "none" } }, signal);

export const laneOf = ({ name, label, type, unit }: CapturesChannel): Lane => ({
  name: label ?? name,
  ...(label ? { note: name } : {}),
  kind: type === "analog" ? "analog" : "digital",
  unit,
});

/** Lanes with one sample rate, which one request brings. */
interface Group {
  readonly rate: number;
  readonly lanes: readonly { readonly at: number; readonly name: string }[];
}

/** A stored capture through `GET /capture/{id}/tiles`. */
export class StoredSource implements TileSource {
  readonly lanes: readonly Lane[];
  readonly samples: number;
  readonly rate: number;
  readonly gaps: readonly Gap[];
  #id: string;
  #groups: readonly Group[];

  constructor({ id, channels, gaps = [] }: Pick<CapturesCaptureInFull, "id" | "channels" | "gaps">) {
    this.#id = id;
    this.gaps = gaps;
    this.rate = Math.max(...channels.map((channel) => channel.sample_rate_hz));
    this.samples = Math.max(...channels.map((channel) => Math.ceil((channel.samples * this.rate) / channel.sample_rate_hz)));
    this.lanes = channels.map(laneOf);
    const rates = [...new Set(channels.map((channel) => channel.sample_rate_hz))];
    this.#groups = rates.map((rate) => ({ rate, lanes: channels.flatMap((channel, at) => (channel.sample_rate_hz === rate ? [{ at, name: channel.name }] : [])) }));
  }

  async load(level: number, index: number, signal: AbortSignal): Promise<Tile> {
    const count = stretchesIn(this.samples, level, index);
    const parts: Part[] = [];
    await Promise.all(this.#groups.map(async (group) => {
      const step = this.rate / group.rate;
      const need = needFor(level, index, step);
      const seen = await this.#tiles(group, need.level, need.index, need.tiles, signal);
      group.lanes.forEach(({ at }, i) => (parts[at] = step === 1 ? seen[i]! : resampled(seen[i]!, need, level, index, step, count)));
    }));
    if (this.gaps.length > 0) parts.forEach((part, at) => (parts[at] = masked(part, level, index, this.gaps)));
    return { level, index, parts };
  }

  async #tiles({ lanes }: Group, level: number, index: number, tiles: number, signal: AbortSignal): Promise<readonly Part[]> {
    const channels = this.#groups.length > 1 ? lanes.map(({ name }) => name).join(",") : undefined;
    const address = url("GET /capture/{id}/tiles", { id: this.#id }, { level, index, tiles: tiles > 1 ? tiles : undefined, channels });
    const response = await request(address, { signal, headers: { accept: "application/octet-stream" } });
    return parseTiles(await response.arrayBuffer()).lanes.map(({ part }) => part);
  }
}

/** A capture that is still arriving. Its tiles change, so they are made each time they are asked for. */
export class LiveSource implements TileSource {
  readonly lanes: readonly Lane[];
  readonly rate: number;
  readonly capture: LiveCapture;

  constructor(capture: LiveCapture) {
    this.capture = capture;
    this.lanes = capture.lanes;
    this.rate = capture.rate;
  }

  get samples(): number {
    return this.capture.samples;
  }

  get gaps(): readonly Gap[] {
    return this.capture.gaps;
  }

  load(level: number, index: number): Promise<Tile> {
    return Promise.resolve(this.capture.tile(level, index));
  }
}
