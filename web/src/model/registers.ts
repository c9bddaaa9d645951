// What registers of parts held at an instant, as far as a capture shows it: what was read or written last. Pure.
import type { Annotations } from "./annotations.ts";

export interface Held {
  /** `DS1307 0x68`. */
  readonly part: string;
  readonly register: string;
  /** `0x23 (hours 23)`. */
  readonly value: string;
  readonly isWritten: boolean;
}

/** `DS1307 0x68: read hours = 0x23 (hours 23)`, as the decoder `i2c-registers` says it. */
export function heldOf(text: string): Held | undefined {
  const [, part, verb, register, value] = /^(.+?): (read|write) (.+?) = (.+)$/.exec(text) ?? [];
  return part && register && value ? { part, register, value, isWritten: verb === "write" } : undefined;
}

/** Follows annotations as they become more. */
export class Registers {
  readonly #all: Annotations;
  readonly #known = new Map<string, Held | undefined>();
  /** Of each register, the positions of what is said of it. */
  readonly #said = new Map<string, number[]>();
  #read = 0;

  constructor(all: Annotations) {
    this.#all = all;
  }

  /** What each register held before `sample`, by part and in the order in which registers were first seen. */
  at(sample: number): readonly (Held & { readonly index: number })[] {
    const all = this.#all;
    for (; this.#read < all.length; this.#read++) {
      const held = this.#heldOf(all.said(this.#read).text);
      if (!held) continue;
      const name = `${held.part}\0${held.register}`;
      const said = this.#said.get(name) ?? [];
      said.push(this.#read);
      this.#said.set(name, said);
    }
    return [...this.#said.values()]
      .flatMap((said) => {
        let [low, high] = [0, said.length];
        while (low < high) {
          const middle = (low + high) >>> 1;
          if (all.end(said[middle]!) <= sample) low = middle + 1;
          else high = middle;
        }
        const index = said[low - 1];
        return index === undefined ? [] : [{ ...this.#heldOf(all.said(index).text)!, index }];
      })
      .sort((a, b) => (a.part < b.part ? -1 : a.part > b.part ? 1 : 0));
  }

  #heldOf(text: string): Held | undefined {
    if (!this.#known.has(text)) this.#known.set(text, heldOf(text));
    return this.#known.get(text);
  }
}
