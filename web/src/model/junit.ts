// Test cases from the JUnit file that the server makes of a job. Pure: a page with trusted types has no parser for XML.

export interface Case {
  readonly run: string;
  readonly name: string;
  readonly group: string;
  readonly seconds: number;
  readonly outcome: "passed" | "failed" | "error" | "skipped";
  /** What it says in a line, and all of it. */
  readonly message: string;
  readonly detail: string;
  /** Ids of captures that it made or looked at, by their names. */
  readonly captures: Readonly<Record<string, string>>;
  readonly output: string;
}

const TOKEN = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/g;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const OUTCOMES: Readonly<Record<string, Case["outcome"]>> = { failure: "failed", error: "error", skipped: "skipped" };

const plain = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex?: string, decimal?: string, name?: string) => {
    if (name) return ENTITIES[name] ?? all;
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });

export function parseJunit(xml: string): readonly Case[] {
  const cases: Case[] = [];
  let run = "";
  let open: { -readonly [K in keyof Case]: Case[K] } | undefined;
  let inside = "";
  for (const [, cdata, end, element = "", written = "", empty, text] of xml.matchAll(TOKEN)) {
    const said = cdata ?? (text === undefined ? undefined : plain(text));
    if (said !== undefined) {
      if (open && inside in OUTCOMES) open.detail += said;
      if (open && inside.startsWith("system-")) open.output += said;
      continue;
    }
    if (end) {
      if (element === "testcase" && open) cases.push({ ...open, detail: open.detail.trim(), captures: capturesOf(open.output), output: open.output.trim() });
      if (element === "testcase") open = undefined;
      inside = "";
      continue;
    }
    const attributes = Object.fromEntries([...written.matchAll(ATTRIBUTE)].map(([, name = "", double, single]) => [name, plain(double ?? single ?? "")]));
    if (element === "testsuite") run = attributes["name"] ?? "";
    if (element === "testcase") {
      open = { run, name: attributes["name"] ?? "", group: attributes["classname"] ?? "", seconds: Number(attributes["time"]) || 0, outcome: "passed", message: "", detail: "", captures: {}, output: "" };
      if (empty) {
        cases.push(open);
        open = undefined;
      }
    }
    const outcome = OUTCOMES[element];
    if (open && outcome) {
      open.outcome = outcome;
      open.message ||= attributes["message"] ?? "";
    }
    inside = empty ? "" : element;
  }
  return cases.map((one) => (one.message === "" && one.detail !== "" ? { ...one, message: one.detail.split("\n", 1)[0]! } : one));
}

const capturesOf = (output: string): Record<string, string> => Object.fromEntries([...output.matchAll(/^hostd\.capture\.(.+?): .*\/capture\/([0-9A-Z]{26})\s*$/gm)].map(([, name = "", id = ""]) => [name, id]));
