// Both directions of a UART as a conversation: bytes of a line are joined until the other line speaks or there is a pause. Pure.
import type { Annotations } from "./annotations.ts";

export interface Turn {
  readonly line: "rx" | "tx";
  readonly from: number;
  to: number;
  readonly bytes: number[];
  /** Something was wrong with a byte: a framing or parity error, a break. */
  faults: number;
}

/** So many bytes may one turn have; what is longer goes on in the next. */
const BYTES_MAX = 256;

interface Said {
  readonly line: "rx" | "tx";
  readonly from: number;
  readonly to: number;
  readonly byte: number | undefined;
}

/** `pause` in samples: a line that rested for longer begins a new turn. Lines end one, too. */
export function conversation(rows: readonly { readonly line: "rx" | "tx"; readonly annotations: Annotations }[], pause: number): readonly Turn[] {
  const all = rows.flatMap(({ line, annotations }) => said(line, annotations)).sort((a, b) => a.from - b.from || a.to - b.to);
  const turns: Turn[] = [];
  for (const { line, from, to, byte } of all) {
    let turn = turns.at(-1);
    const ends = !turn || turn.line !== line || from - turn.to > pause || turn.bytes.length >= BYTES_MAX || turn.bytes.at(-1) === 0x0a;
    if (!turn || ends) turns.push((turn = { line, from, to, bytes: [], faults: 0 }));
    if (byte === undefined) turn.faults++;
    else turn.bytes.push(byte);
    turn.to = Math.max(turn.to, to);
  }
  return turns;
}

function said(line: "rx" | "tx", annotations: Annotations): readonly Said[] {
  const all: Said[] = [];
  for (let i = 0; i < annotations.length; i++) {
    const { kind, text } = annotations.said(i);
    const isData = kind === `${line}-data`;
    if (!isData && !/-(warnings|break|parity-err)$/.test(kind)) continue;
    const byte = isData ? Number.parseInt(text, 16) : undefined;
    if (Number.isNaN(byte)) continue;
    all.push({ line, from: annotations.start(i), to: annotations.end(i), byte });
  }
  return all;
}

export const asHex = (bytes: readonly number[]): string => bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");

const NAMED: Readonly<Record<number, string>> = { 0x0a: "\\n", 0x0d: "\\r", 0x09: "\\t", 0x1b: "\\e", 0x00: "\\0", 0x08: "\\b" };

/** Text as it was said, without the end of its line; what cannot be seen is written as in C, and what is no text is a dot. */
export function asText(bytes: readonly number[]): string {
  const text = new TextDecoder().decode(Uint8Array.from(bytes)).replace(/\r?\n$/, "");
  return [...text].map((character) => NAMED[character.charCodeAt(0)] ?? (character < " " || character === "\x7f" || character === "\ufffd" ? "·" : character)).join("");
}
