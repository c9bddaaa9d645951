// Reads the part of YAML that rules and pipelines use: maps, lists, scalars, quotes, block texts; no anchors, tags or second
// documents, which the server refuses as well. It keeps the line of each value, so that what the server says of a path is shown
// where it was written. Pure.

export type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };

export interface Parsed {
  readonly value: Value;
  /** The line, from 1, of each path: `rules[0].name`. The whole has the path "". */
  readonly lines: ReadonlyMap<string, number>;
}

export class YamlError extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Deeper than any rule or pipeline is. */
const DEPTH_MAX = 40;
const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#&*!|>%@`,[\]{}:-](?:[^:#]|:(?=\S)|(?<=\S)#)*?|-[^\s:](?:[^:]|:(?=\S))*?)\s*:(?:\s+(.*))?$/s;

export function parseYaml(text: string): Parsed {
  const reader = new Reader(text);
  return { value: reader.document(), lines: reader.lines };
}

class Reader {
  readonly lines = new Map<string, number>();
  #raw: string[];
  #at = 0;

  constructor(text: string) {
    this.#raw = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  }

  document(): Value {
    if (this.#peek()?.text === "---") this.#at++;
    const value = this.#block(0, "", 0);
    const rest = this.#peek();
    if (rest) throw new YamlError(this.#at + 1, "This line is indented in a way that does not fit the lines before it.");
    return value;
  }

  /** The next line with something in it, without its comment. */
  #peek(): { readonly indent: number; readonly text: string } | undefined {
    for (; this.#at < this.#raw.length; this.#at++) {
      const raw = this.#raw[this.#at]!;
      const text = withoutComment(raw.trimStart()).trimEnd();
      if (text === "") continue;
      const lead = raw.slice(0, raw.length - raw.trimStart().length);
      if (lead.includes("\t")) throw new YamlError(this.#at + 1, "Indent with blanks: tabs are not allowed here.");
      return { indent: lead.length, text };
    }
    return undefined;
  }

  #block(least: number, path: string, depth: number): Value {
    if (depth > DEPTH_MAX) throw new YamlError(this.#at + 1, `This is nested more than ${DEPTH_MAX} deep.`);
    const next = this.#peek();
    if (!next || next.indent < least) return null;
    this.lines.set(path, this.#at + 1);
    if (next.text === "-" || next.text.startsWith("- ")) return this.#list(next.indent, path, depth);
    if (KEY.test(next.text)) return this.#map(next.indent, path, depth);
    return this.#inline(next.text, path);
  }

  #list(indent: number, path: string, depth: number): Value {
    const all: Value[] = [];
    for (let next = this.#peek(); next?.indent === indent && (next.text === "-" || next.text.startsWith("- ")); next = this.#peek()) {
      const raw = this.#raw[this.#at]!;
      // What follows the dash is a block of its own that begins where it stands.
      const rest = raw.slice(indent + 1);
      this.#raw[this.#at] = " ".repeat(indent + 1) + rest;
      const here = `${path}[${all.length}]`;
      this.lines.set(here, this.#at + 1);
      all.push(this.#block(indent + 1, here, depth + 1));
    }
    return all;
  }

  #map(indent: number, path: string, depth: number): Value {
    const all: Record<string, Value> = {};
    for (let next = this.#peek(); next?.indent === indent; next = this.#peek()) {
      const line = this.#at + 1;
      const [, written = "", rest = ""] = KEY.exec(next.text) ?? [];
      if (written === "") throw new YamlError(line, "A key with a colon is expected here.");
      const key = unquoted(written, line);
      if (Object.hasOwn(all, key)) throw new YamlError(line, `The key ${key} is there twice.`);
      const here = path === "" ? key : `${path}.${key}`;
      this.lines.set(here, line);
      Object.defineProperty(all, key, { value: this.#valueOf(rest, indent, here, depth), enumerable: true });
    }
    return all;
  }

  #valueOf(rest: string, indent: number, path: string, depth: number): Value {
    if (rest !== "") return /^[|>]/.test(rest) ? this.#text(rest, indent) : this.#inline(rest, path);
    this.#at++;
    const next = this.#peek();
    // A list may stand below its key without being indented.
    const isList = next?.indent === indent && (next.text === "-" || next.text.startsWith("- "));
    const line = this.lines.get(path)!;
    const value = this.#block(isList ? indent : indent + 1, path, depth + 1);
    this.lines.set(path, line);
    return value;
  }

  /** A text of several lines, as it stands (`|`) or joined (`>`). */
  #text(mark: string, indent: number): string {
    const all: string[] = [];
    let inner = -1;
    for (this.#at++; this.#at < this.#raw.length; this.#at++) {
      const raw = this.#raw[this.#at]!;
      const lead = raw.length - raw.trimStart().length;
      if (raw.trim() !== "" && lead <= indent) break;
      if (inner < 0 && raw.trim() !== "") inner = lead;
      all.push(raw.slice(Math.max(0, inner)));
    }
    while (all.at(-1)?.trim() === "") all.pop();
    return all.join(mark.startsWith("|") ? "\n" : " ") + (mark.endsWith("-") ? "" : "\n");
  }

  /** A scalar, or a list or map in brackets, which may go on in the next lines. */
  #inline(first: string, path: string): Value {
    const line = this.#at + 1;
    let text = first;
    this.#at++;
    if (/^[[{"']/.test(first)) while (!isClosed(text)) {
      if (this.#at >= this.#raw.length) throw new YamlError(line, `What begins here is never closed: ${first.slice(0, 40)}`);
      text += `\n${withoutComment(this.#raw[this.#at++]!.trim())}`;
    }
    const flow = new Flow(text, line, this.lines);
    const value = flow.value(path, 0);
    flow.end();
    return value;
  }
}

class Flow {
  #text: string;
  #line: number;
  #lines: Map<string, number>;
  #at = 0;

  constructor(text: string, line: number, lines: Map<string, number>) {
    this.#text = text;
    this.#line = line;
    this.#lines = lines;
  }

  get #here(): number {
    return this.#line + this.#text.slice(0, this.#at).split("\n").length - 1;
  }

  #blank(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  end(): void {
    this.#blank();
    if (this.#at < this.#text.length) throw new YamlError(this.#here, `Nothing may follow here, but there is ${this.#text.slice(this.#at, this.#at + 20)}`);
  }

  value(path: string, depth: number): Value {
    if (depth > DEPTH_MAX) throw new YamlError(this.#here, `This is nested more than ${DEPTH_MAX} deep.`);
    this.#blank();
    this.#lines.set(path, this.#here);
    const begin = this.#text[this.#at];
    if (begin === "[") return this.#all("]", (i) => this.value(`${path}[${i}]`, depth + 1));
    if (begin === "{") {
      const all: Record<string, Value> = {};
      this.#all("}", () => {
        const line = this.#here;
        const key = String(this.#scalar(true));
        this.#blank();
        if (this.#text[this.#at] !== ":") throw new YamlError(line, `A colon is missing behind ${key}.`);
        this.#at++;
        const value = this.value(path === "" ? key : `${path}.${key}`, depth + 1);
        Object.defineProperty(all, key, { value, enumerable: true, configurable: true });
        return null;
      });
      return all;
    }
    return depth === 0 ? this.#rest() : this.#scalar(false);
  }

  #all(end: string, one: (index: number) => Value): readonly Value[] {
    const all: Value[] = [];
    this.#at++;
    for (;;) {
      this.#blank();
      if (this.#text[this.#at] === end) break;
      if (this.#at >= this.#text.length) throw new YamlError(this.#here, `A ${end} is missing.`);
      all.push(one(all.length));
      this.#blank();
      if (this.#text[this.#at] === ",") this.#at++;
      else if (this.#text[this.#at] !== end) throw new YamlError(this.#here, `A comma or ${end} is missing here.`);
    }
    this.#at++;
    return all;
  }

  /** Outside brackets a scalar goes to the end of its line. */
  #rest(): Value {
    if (/["']/.test(this.#text[this.#at] ?? "")) return this.#scalar(false);
    const text = this.#text.slice(this.#at).trim();
    this.#at = this.#text.length;
    return scalar(text, this.#line);
  }

  #scalar(isKey: boolean): Value {
    const rest = this.#text.slice(this.#at);
    const quoted = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/s.exec(rest)?.[0];
    if (quoted !== undefined) {
      this.#at += quoted.length;
      return unquoted(quoted, this.#here);
    }
    const plain = /^(?:[^,[\]{}:\n]|:(?=[^\s,\]}]))*/.exec(rest)![0];
    if (plain === "" && isKey) throw new YamlError(this.#here, "A key is missing here.");
    this.#at += plain.length;
    return isKey ? plain.trim() : scalar(plain.trim(), this.#here);
  }
}

/** Numbers and words as JSON has them; what only looks like a number, as `007`, stays text. */
function scalar(text: string, line: number): Value {
  if (/^["']/.test(text)) return unquoted(text, line);
  if (/^[&*!%@`]/.test(text)) throw new YamlError(line, `Anchors, aliases and tags are not part of the format: ${text.slice(0, 20)}`);
  if (text === "" || text === "null" || text === "~") return null;
  if (text === "true" || text === "false") return text === "true";
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  if (/^0x[0-9a-f]+$/i.test(text)) return Number(text);
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0", '"': '"', "\\": "\\", "/": "/" };

function unquoted(text: string, line: number): string {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  if (!text.startsWith('"')) return text;
  return text.slice(1, -1).replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\s\S]))/g, (_, x: string | undefined, u: string | undefined, c: string | undefined) => {
    if (x ?? u) return String.fromCharCode(Number.parseInt((x ?? u)!, 16));
    const escaped = ESCAPES[c!];
    if (escaped === undefined) throw new YamlError(line, `There is no escape \\${c}.`);
    return escaped;
  });
}

/** A comment begins with `#` at the beginning or behind a blank, outside quotes. */
function withoutComment(text: string): string {
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quote) {
      if (c === "\\" && quote === '"') i++;
      else if (c === quote) quote = "";
    } else if ((c === '"' || c === "'") && (i === 0 || /[\s,[{:]/.test(text[i - 1]!))) quote = c;
    else if (c === "#" && (i === 0 || /\s/.test(text[i - 1]!))) return text.slice(0, i);
  }
  return text;
}

function isClosed(text: string): boolean {
  let depth = 0;
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quote) {
      if (c === "\\" && quote === '"') i++;
      else if (c === quote) quote = "";
    } else if ((c === '"' || c === "'") && (i === 0 || /[\s,[{:]/.test(text[i - 1]!))) quote = c;
    else if (c === "[" || c === "{") depth++;
    else if (c === "]" || c === "}") depth--;
  }
  return depth <= 0 && quote === "";
}
