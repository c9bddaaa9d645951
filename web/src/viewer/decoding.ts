// Decoders of a capture: how they stand in the address, and what they say.
import { lines, request, url } from "../api/client.ts";

export interface Decoding {
  readonly protocol: string;
  /** Roles of the decoder, and the channels that have them. */
  readonly channels: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
}

/** `i2c:scl=LA1,sda=LA2`; options stand behind the channels: `uart:rx=LA3;baudrate=9600`. */
export function decodingText({ protocol, channels, options }: Decoding): string {
  const pairs = (of: Readonly<Record<string, string>>): string => Object.entries(of).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join(",");
  const settings = pairs(options);
  return `${protocol}:${pairs(channels)}${settings && `;${settings}`}`;
}

export function parseDecoding(text: string): Decoding {
  const [, protocol = "", channels = "", options = ""] = /^([^:]*):?([^;]*);?(.*)$/s.exec(text) ?? [];
  const pairs = (of: string): Record<string, string> => Object.fromEntries(of.split(",").flatMap((pair) => {
    const [name, value] = pair.split("=", 2);
    return name && value !== undefined ? [[name, decodeURIComponent(value)]] : [];
  }));
  return { protocol, channels: pairs(channels), options: pairs(options) };
}

export interface Said {
  readonly start: number;
  readonly end: number;
  readonly class: string;
  readonly text: string;
}

/** So many events of a decoder are kept in the page. */
export const EVENTS_MAX = 400_000;

/** What a decoder says, in batches as it arrives. */
export async function* decode(capture: string, { protocol, channels, options }: Decoding, annotations: string | undefined, signal: AbortSignal): AsyncGenerator<readonly Said[]> {
  const address = url("GET /capture/{id}/decode", { id: capture }, { protocol, ...channels, ...options, annotations, limit: EVENTS_MAX });
  for await (const batch of lines(await request(address, { signal }))) yield batch.map((line) => JSON.parse(line) as Said);
}
