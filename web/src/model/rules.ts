// Rules as a person writes them, YAML or JSON, and what the server says of them. Pure.
import { type Value, YamlError, parseYaml } from "./yaml.ts";

export interface Fault {
  /** From 1; undefined where only the whole is meant. */
  readonly line: number | undefined;
  readonly message: string;
}

export interface Rules {
  readonly body: Readonly<Record<string, Value>> | undefined;
  readonly lines: ReadonlyMap<string, number>;
  readonly faults: readonly Fault[];
}

/** A list of rules alone is as good as a whole file. */
export function readRules(text: string): Rules {
  try {
    const { value, lines } = parseYaml(text);
    if (Array.isArray(value)) return { body: { version: 1, rules: value }, lines: new Map([...lines].map(([path, line]) => [`rules${path}`, line])), faults: [] };
    if (typeof value === "object" && value !== null) return { body: { version: 1, ...(value as Readonly<Record<string, Value>>) }, lines, faults: [] };
    return { body: undefined, lines, faults: [{ line: 1, message: "Rules are a list below the key rules." }] };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { body: undefined, lines: new Map(), faults: [{ line: error.line, message: error.message }] };
  }
}

export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Where a path was written: its own line, or that of what holds it. */
export function lineOf(lines: ReadonlyMap<string, number>, path: string): number | undefined {
  for (let rest = path; rest !== ""; rest = rest.replace(/(?:\.[^.[]*|\[\d+\]|^[^.[]+)$/, "")) {
    const line = lines.get(rest);
    if (line !== undefined) return line;
  }
  return undefined;
}

export const faultsOf = (lines: ReadonlyMap<string, number>, problems: readonly Problem[]): readonly Fault[] =>
  problems.map(({ path, message }) => ({ line: lineOf(lines, path), message: message.charAt(0).toUpperCase() + message.slice(1) }));

/** Rules to begin with, for the channels that there are. */
export function exampleRules(digital: readonly string[], analog: readonly string[]): string {
  const [first = "LA1", second] = digital;
  const lines = ["rules:"];
  if (digital.length > 0 || analog.length === 0) lines.push(`  - name: no pulse is too short`, `    pulse: { channel: ${first}, min: 1us }`);
  if (second) lines.push(`  - name: ${second} follows ${first}`, `    within: { edge: ${second} any, after: ${first} rising, time: 10ms, when: once }`);
  if (analog[0]) lines.push(`  - name: ${analog[0]} stays in its range`, `    analog: { channel: ${analog[0]}, min: -5V, max: 5V }`);
  return `${lines.join("\n")}\n`;
}
