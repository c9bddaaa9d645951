// Options of decoders as fields of a form: decoders say units at the end of a text, or leave them to who knows the option. Pure.

export interface Option {
  readonly id: string;
  readonly text: string;
  readonly default: string;
}

export interface Setting {
  readonly label: string;
  readonly unit: string | undefined;
  readonly isNumber: boolean;
  readonly hint: string | undefined;
}

/** Of options whose text has none. */
const UNITS: Readonly<Record<string, string>> = { baudrate: "baud", wordsize: "bits", bitrate: "bit/s", nominal_bitrate: "bit/s", fast_bitrate: "bit/s", rx_packet_len: "words", tx_packet_len: "words", length: "words" };
/** What stands in brackets and is a unit, not a remark. */
const UNIT = /^(.*?)\s*\((%|bits?|bytes?|words?|baud|bits?\/s|bps|[kM]?Hz|[nuµm]?s|m?V|samples?|cycles?|pulses?)\)$/;
/** What a number stands for that is none. */
const NONE: Readonly<Record<string, string>> = { rx_packet_delim: "−1: none", tx_packet_delim: "−1: none", delimiter: "−1: none", rx_packet_len: "−1: of any length", tx_packet_len: "−1: of any length" };
const HINTS: Readonly<Record<string, string>> = { parts: "Names of parts with their addresses, with commas between: bme280@0x76, ds1307. Without an address, all that a part can have. Other devices are shown as bytes." };

export function settingOf({ id, text, default: usual }: Option): Setting {
  const [, label = text, unit = UNITS[id]] = UNIT.exec(text) ?? [];
  return { label: id === "parts" ? "Parts on the bus" : label, unit, isNumber: /^-?\d+(\.\d+)?$/.test(usual), hint: HINTS[id] ?? NONE[id] };
}
