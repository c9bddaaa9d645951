// Where a pipeline names a secret or a device: for what may stand there, and whether there is one. Pure.
import type { Parsed, Value } from "./yaml.ts";

export type Kind = "secret" | "device";

/** What the value at a path names, if it names something of the organisation. */
export const kindAt = (path: string): Kind | undefined => (/(?:^|\.)env\.[^.[\]]+\.secret$/.test(path) ? "secret" : /(?:^|\.)device\.name$/.test(path) ? "device" : undefined);

export interface Named {
  readonly kind: Kind;
  readonly name: string;
  readonly path: string;
}

export function namedIn({ value, lines }: Parsed): readonly Named[] {
  return [...lines.keys()].flatMap((path) => {
    const kind = kindAt(path);
    const name = kind && valueAt(value, path);
    return kind && typeof name === "string" && name !== "" ? [{ kind, name, path }] : [];
  });
}

function valueAt(value: Value, path: string): Value | undefined {
  let at: Value | undefined = value;
  for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (at === null || at === undefined || typeof at !== "object") return undefined;
    at = (at as Readonly<Record<string, Value>>)[key ?? index!];
  }
  return at;
}

/** The word in which the caret is, or an empty place there. */
export function wordAt(text: string, caret: number): { readonly from: number; readonly to: number } {
  const before = /[\w.-]*$/.exec(text.slice(0, caret))![0].length;
  const behind = /^[\w.-]*/.exec(text.slice(caret))![0].length;
  return { from: caret - before, to: caret + behind };
}
