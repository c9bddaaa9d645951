// Where the caret is in a pipeline, by its indentation and braces: enough to say what may stand there. The server reads the text. Pure.

/** The keys around a place in a text, the outermost first; an entry of a list has no name of its own. */
export function keysAt(text: string, caret: number): readonly string[] {
  const above: { readonly indent: number; readonly key: string }[] = [];
  const lines = text.slice(0, caret).split("\n");
  const [column, whole] = [lines.at(-1)!.length, text.split("\n")];
  let within: string[] = [];
  for (const [i, line] of whole.slice(0, lines.length).entries()) {
    const isLast = i === lines.length - 1;
    if (!isLast && /^\s*(?:#|$)/.test(line)) continue;
    const [begin, lead, key] = /^((?:\s|- )*)(?:([\w-]+):(?=\s|$))?/.exec(line)!;
    while ((above.at(-1)?.indent ?? -1) >= lead!.length) above.pop();
    if (key) above.push({ indent: lead!.length, key });
    if (isLast) within = keysWithin(line.slice(begin.length, Math.max(begin.length, column)));
  }
  return [...above.map(({ key }) => key), ...within];
}

/** Keys of the maps that are open at the end of `{ name: demo, select: { target: `. */
function keysWithin(text: string): string[] {
  const open: string[] = [];
  for (const [token, key] of text.matchAll(/[{}[\],]|([\w-]+):(?=\s)/g)) {
    if (token === "{" || token === "[") open.push("");
    else if (token === "}" || token === "]") open.pop();
    else if (open.length > 0) open[open.length - 1] = key ?? "";
  }
  return open.filter(Boolean);
}

/** What a value below these keys names, if it names something of the organisation. */
export type Kind = "secret" | "device";
export const kindAt = (keys: readonly string[]): Kind | undefined => (keys.at(-1) === "secret" && keys.at(-3) === "env" ? "secret" : /(?:^|\.)device\.name$/.test(keys.join(".")) ? "device" : undefined);

/** The word in which the caret is, or an empty place there. */
export function wordAt(text: string, caret: number): { readonly from: number; readonly to: number } {
  const before = /[\w.-]*$/.exec(text.slice(0, caret))![0].length;
  const behind = /^[\w.-]*/.exec(text.slice(caret))![0].length;
  return { from: caret - before, to: caret + behind };
}
