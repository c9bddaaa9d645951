// Rules as a person writes them, YAML or JSON: the server reads them. Pure.

/** A file of rules. In what a person writes here the version may be left out: it is added where it moves no line. */
export function fileOf(text: string): string {
  if (/(?:^|[{,])\s*"?version"?\s*:/m.test(text)) return text;
  return /^\s*\{/.test(text) ? text.replace("{", "{version: 1, ") : `${text.trimEnd()}\nversion: 1\n`;
}

/** Rules to begin with, for the channels that there are. */
export function exampleRules(digital: readonly string[], analog: readonly string[]): string {
  const [first = "LA1", second] = digital;
  const lines = ["rules:"];
  if (digital.length > 0 || analog.length === 0) lines.push(`  - name: no pulse is too short`, `    pulse: { channel: ${first}, min: 1us }`);
  if (second) lines.push(`  - name: ${second} follows ${first}`, `    within: { edge: ${second} any, after: ${first} rising, time: 10ms, when: once }`);
  if (analog[0]) lines.push(`  - name: ${analog[0]} stays in its range`, `    analog: { channel: ${analog[0]}, min: -5V, max: 5V }`);
  return `${lines.join("\n")}\n`;
}
