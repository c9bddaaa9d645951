// The binary form of tiles, as `GET /capture/{id}/tiles` sends it; docs/captures.md has the table. Pure.
import type { Part } from "./tiles.ts";

/** One or more tiles in a row, of lanes that have the same sample rate. */
export interface Stretches {
  readonly level: number;
  /** Of the first tile. */
  readonly index: number;
  readonly lanes: readonly { readonly channel: number; readonly part: Part }[];
}

const MAGIC = 0x424f5631; // "BOV1"
const HEAD = 16;
const padded = (bytes: number): number => (bytes + 3) & ~3;

export function parseTiles(buffer: ArrayBuffer): Stretches {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEAD || view.getUint32(0) !== MAGIC) throw new Error("failed to read tiles: they do not begin with BOV1");
  const count = view.getUint16(6, true);
  const lanes: { channel: number; part: Part }[] = [];
  let at = HEAD;
  for (let lane = 0; lane < view.getUint16(4, true); lane++) {
    const analog = view.getUint8(at) === 1;
    const channel = view.getUint16(at + 2, true);
    at += 4;
    if (analog) {
      lanes.push({ channel, part: { kind: "analog", min: new Float32Array(buffer, at, count), max: new Float32Array(buffer, at + 4 * count, count) } });
      at += 8 * count;
    } else {
      const bytes = Math.ceil(count / 4);
      lanes.push({ channel, part: { kind: "digital", levels: unpacked(new Uint8Array(buffer, at, bytes), count) } });
      at += padded(bytes);
    }
  }
  return { level: view.getUint8(8), index: view.getUint32(12, true), lanes };
}

function unpacked(packed: Uint8Array, count: number): Uint8Array {
  const levels = new Uint8Array(count);
  for (let i = 0; i < count; i++) levels[i] = (packed[i >> 2]! >> ((i & 3) * 2)) & 3;
  return levels;
}

/** What a server would send: for tests, and for captures that are made up. */
export function writeTiles({ level, index, lanes }: Stretches): ArrayBuffer {
  const first = lanes[0]?.part;
  const count = first ? (first.kind === "digital" ? first.levels.length : first.min.length) : 0;
  const size = lanes.reduce((sum, { part }) => sum + 4 + (part.kind === "digital" ? padded(Math.ceil(count / 4)) : 8 * count), HEAD);
  const buffer = new ArrayBuffer(size);
  const view = new DataView(buffer);
  view.setUint32(0, MAGIC);
  view.setUint16(4, lanes.length, true);
  view.setUint16(6, count, true);
  view.setUint8(8, level);
  view.setUint32(12, index, true);
  let at = HEAD;
  for (const { channel, part } of lanes) {
    view.setUint8(at, part.kind === "analog" ? 1 : 0);
    view.setUint16(at + 2, channel, true);
    at += 4;
    if (part.kind === "analog") {
      new Float32Array(buffer, at, count).set(part.min);
      new Float32Array(buffer, at + 4 * count, count).set(part.max);
      at += 8 * count;
    } else {
      const bytes = new Uint8Array(buffer, at, Math.ceil(count / 4));
      part.levels.forEach((level, i) => (bytes[i >> 2]! |= level << ((i & 3) * 2)));
      at += padded(bytes.length);
    }
  }
  return buffer;
}
