// The last bytes of a stream, as rows of a hex dump. Pure.

const ROW = 16;

/** Keeps `most` bytes; older ones go, and positions go on counting. */
export class HexDump {
  readonly #most: number;
  #data: Uint8Array;
  #begin = 0;
  #end = 0;

  constructor(most: number) {
    this.#most = most;
    this.#data = new Uint8Array(most);
  }

  /** Position behind the last byte. */
  get end(): number {
    return this.#end;
  }

  get rows(): number {
    return this.#end === this.#begin ? 0 : Math.floor((this.#end - 1) / ROW) - Math.floor(this.#begin / ROW) + 1;
  }

  append(bytes: Uint8Array): void {
    const skipped = Math.max(0, bytes.length - this.#most);
    this.#end += skipped;
    for (const byte of bytes.subarray(skipped)) this.#data[this.#end++ % this.#most] = byte;
    this.#begin = Math.max(this.#begin, this.#end - this.#most);
  }

  /** The bytes that are kept, oldest first. */
  bytes(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#end - this.#begin);
    for (let at = this.#begin; at < this.#end; at++) all[at - this.#begin] = this.#data[at % this.#most]!;
    return all;
  }

  clear(): void {
    this.#begin = this.#end;
  }

  /** `00000010  68 65 6c 6c 6f 0d 0a                              hello··` */
  row(index: number): { readonly at: string; readonly hex: string; readonly text: string } {
    const start = (Math.floor(this.#begin / ROW) + index) * ROW;
    const hex: string[] = [];
    let text = "";
    for (let at = start; at < start + ROW; at++) {
      const known = at >= this.#begin && at < this.#end;
      const byte = this.#data[at % this.#most]!;
      hex.push(known ? byte.toString(16).padStart(2, "0") : "  ");
      text += !known ? " " : byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·";
    }
    return { at: start.toString(16).padStart(8, "0"), hex: `${hex.slice(0, 8).join(" ")}  ${hex.slice(8).join(" ")}`, text };
  }
}
