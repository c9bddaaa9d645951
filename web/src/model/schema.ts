// Checks a value against a JSON Schema as far as hostd's are written, and says what may stand at a place. What needs more than
// the schema, such as names that refer to each other, is the server's to check. Pure.
import type { Problem } from "./rules.ts";
import type { Value } from "./yaml.ts";

export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly Value[];
  readonly const?: Value;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly examples?: readonly Value[];
}

type Map = Readonly<Record<string, Value>>;

const isMap = (value: Value): value is Map => typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** So many problems are said at once. */
const PROBLEMS_MAX = 50;

export class Checker {
  #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  check(value: Value): readonly Problem[] {
    return this.#check(value, this.#root, "").slice(0, PROBLEMS_MAX);
  }

  /** A schema with what it refers to; its own description comes first. */
  #resolved(schema: Schema): Schema {
    const name = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? "")?.[1];
    const found = name === undefined ? undefined : this.#root.$defs?.[name];
    return found ? { ...this.#resolved(found), ...(schema.description ? { description: schema.description } : {}) } : schema;
  }

  #check(value: Value, unresolved: Schema, path: string): readonly Problem[] {
    const schema = this.#resolved(unresolved);
    const say = (message: string): readonly Problem[] => [{ path, message }];
    if (schema.const !== undefined) return value === schema.const ? [] : say(`must be ${String(schema.const)}`);
    if (schema.enum) return schema.enum.includes(value) ? [] : say(`must be one of ${schema.enum.join(", ")}`);
    const wrong = typeProblem(value, schema);
    if (wrong) return say(wrong + hint(schema));
    const problems = [...this.#choice(value, schema, path)];
    if (isMap(value)) problems.push(...this.#map(value, schema, path));
    else if (isList(value)) problems.push(...this.#list(value, schema, path));
    else if (typeof value === "number" && (schema.minimum !== undefined || schema.maximum !== undefined)) {
      if (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)) problems.push(...say(`must be ${schema.minimum ?? "any"} to ${schema.maximum ?? "any"}`));
    } else if (value !== null) {
      const text = String(value);
      if (schema.maxLength !== undefined && text.length > schema.maxLength) problems.push(...say(`has more than ${schema.maxLength} characters`));
      if (schema.pattern !== undefined && !fits(schema.pattern, text)) problems.push(...say(`${text.slice(0, 40)} does not fit${hint(schema)}`));
    }
    return problems;
  }

  /** One branch has to fit; of those that do not, what the nearest one says is said. */
  #choice(value: Value, schema: Schema, path: string): readonly Problem[] {
    const branches = schema.oneOf ?? schema.anyOf;
    if (!branches) return [];
    const keys = branches.map((branch) => branch.required?.join(" and "));
    if (isMap(value) && branches.every(({ required, properties, type }) => required && !properties && !type)) {
      const there = branches.filter(({ required }) => required!.every((key) => Object.hasOwn(value, key)));
      if (there.length === 0) return [{ path, message: `one of these is missing: ${keys.join(", ")}` }];
      return schema.oneOf && there.length > 1 ? [{ path, message: `only one of these may be here: ${there.map(({ required }) => required!.join(" and ")).join(", ")}` }] : [];
    }
    const words = branches.map((branch) => this.#resolved(branch).const);
    if (words.every((word) => word !== undefined)) return words.includes(value) ? [] : [{ path, message: `must be one of ${words.join(", ")}` }];
    const tried = branches.map((branch) => this.#check(value, branch, path));
    if (tried.some((problems) => problems.length === 0)) return [];
    // Of the kind that was written: a map says what is wrong in it, not that it is no text.
    const ofKind = tried.filter((_, i) => !typeProblem(value, this.#resolved(branches[i]!)));
    return (ofKind.length > 0 ? ofKind : tried).toSorted((a, b) => a.length - b.length)[0]!;
  }

  #map(value: Map, schema: Schema, path: string): readonly Problem[] {
    const below = (key: string): string => (path === "" ? key : `${path}.${key}`);
    const known = schema.properties ?? {};
    const problems: Problem[] = [];
    for (const key of schema.required ?? []) if (!Object.hasOwn(value, key)) problems.push({ path, message: `the key ${key} is missing here${said(this.#resolved(known[key] ?? {}))}` });
    for (const [key, one] of Object.entries(value)) {
      const of = Object.hasOwn(known, key) ? known[key] : undefined;
      if (of) problems.push(...this.#check(one, of, below(key)));
      else if (schema.additionalProperties === false) problems.push({ path: below(key), message: unknownKey(key, Object.keys(known)) });
      else if (typeof schema.additionalProperties === "object") problems.push(...this.#check(one, schema.additionalProperties, below(key)));
      if (!of && schema.propertyNames) problems.push(...this.#check(key, schema.propertyNames, below(key)));
    }
    return problems;
  }

  #list(value: readonly Value[], schema: Schema, path: string): readonly Problem[] {
    const problems: Problem[] = [];
    if (schema.maxItems !== undefined && value.length > schema.maxItems) problems.push({ path, message: `has more than ${schema.maxItems} entries` });
    if (schema.items) for (const [i, one] of value.entries()) problems.push(...this.#check(one, schema.items, `${path}[${i}]`));
    return problems;
  }

  /** What a path is, and the keys that may stand in it. */
  describe(path: string): { readonly description: string; readonly keys: readonly { readonly name: string; readonly description: string; readonly isRequired: boolean }[] } | undefined {
    let schema: Schema | undefined = this.#resolved(this.#root);
    for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
      const next: Schema | undefined = index === undefined ? (schema.properties?.[key!] ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined)) : schema.items;
      if (!next) return undefined;
      schema = this.#resolved(next);
      schema = schema.items || schema.properties ? schema : this.#resolved(schema.anyOf?.find((branch) => this.#resolved(branch).items ?? this.#resolved(branch).properties) ?? schema);
    }
    const keys = Object.entries(schema.properties ?? {}).map(([name, one]) => ({ name, description: this.#resolved(one).description ?? "", isRequired: schema!.required?.includes(name) ?? false }));
    return { description: schema.description ?? "", keys };
  }
}

/** Text may be written as a number or a word for truth: the server takes it as it stands. */
function typeProblem(value: Value, { type }: Schema): string | undefined {
  if (type === undefined) return undefined;
  const types = [type].flat();
  const is: Readonly<Record<string, boolean>> = {
    object: isMap(value),
    array: isList(value),
    string: typeof value === "string" || typeof value === "number" || typeof value === "boolean",
    number: typeof value === "number",
    integer: typeof value === "number" && Number.isInteger(value),
    boolean: typeof value === "boolean",
    null: value === null,
  };
  if (types.some((one) => is[one])) return undefined;
  const names: Readonly<Record<string, string>> = { object: "keys and values", array: "a list", string: "a text", number: "a number", integer: "a whole number", boolean: "true or false", null: "nothing" };
  return `${value === null ? "a value is missing here: it" : "this"} must be ${types.map((one) => names[one] ?? one).join(" or ")}`;
}

function fits(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

const said = ({ description }: Schema): string => (description ? `: ${description.split("\n", 1)[0]}` : "");

const hint = ({ description, examples }: Schema): string => `${description ? `: ${description.split("\n", 1)[0]!.replace(/\.$/, "")}` : ""}${examples?.length ? `, as ${examples.slice(0, 2).map(String).join(" or ")}` : ""}`;

function unknownKey(key: string, known: readonly string[]): string {
  const near = known.map((one) => ({ one, far: distance(key.toLowerCase(), one) })).sort((a, b) => a.far - b.far)[0];
  return near && near.far <= Math.max(1, key.length / 3) ? `there is no key ${key} here; did you mean ${near.one}?` : `there is no key ${key} here; there are ${known.slice(0, 12).join(", ")}`;
}

/** How many letters are to be changed, added, left out or swapped. */
function distance(a: string, b: string): number {
  let [before, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) next[j] = Math.min(next[j]!, before[j - 2]! + 1);
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
