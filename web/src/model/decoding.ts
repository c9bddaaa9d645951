// Which decoder reads which lanes, and how that stands in an address. Pure.

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
  return Object.keys(channels).length + settings.length === 0 ? protocol : `${protocol}:${pairs(channels)}${settings && `;${settings}`}`;
}

/** What makes no sense is left out: addresses come from everywhere. */
export function parseDecoding(text: string): Decoding {
  const [, protocol = "", channels = "", options = ""] = /^([^:]*):?([^;]*);?(.*)$/s.exec(text) ?? [];
  const pairs = (of: string): Record<string, string> => Object.fromEntries(of.split(",").flatMap((pair) => {
    const [name, value] = pair.split("=", 2);
    const plain = value === undefined ? undefined : decoded(value);
    return name && plain !== undefined ? [[name, plain]] : [];
  }));
  return { protocol, channels: pairs(channels), options: pairs(options) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
