// What a JSON Schema says about a place: as far as hostd's are written. Whether a text fits is the server's to say. Pure.

export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

export interface Described {
  readonly description: string;
  /** What may stand in it; in a list, in each of its entries. */
  readonly keys: readonly { readonly name: string; readonly description: string; readonly isRequired: boolean }[];
}

/** What is below keys, the outermost first; undefined where nothing may be. */
export function describe(root: Schema, keys: readonly string[]): Described | undefined {
  /** With what it refers to, what its entries are, or the first of several that has keys; its own description comes first. */
  const whole = (schema: Schema): Schema => {
    const next = root.$defs?.[schema.$ref?.split("/").at(-1) ?? ""] ?? schema.items;
    const inner = next ? whole(next) : schema.properties ? undefined : schema.anyOf?.map(whole).find(({ properties }) => properties);
    return inner ? { ...inner, description: schema.description ?? inner.description } : schema;
  };
  let at = whole(root);
  for (const key of keys) {
    const { additionalProperties: others } = at;
    const next = at.properties?.[key] ?? (typeof others === "object" ? others : undefined);
    if (!next) return undefined;
    at = whole(next);
  }
  const inside = Object.entries(at.properties ?? {}).map(([name, one]) => ({ name, description: whole(one).description ?? "", isRequired: at.required?.includes(name) ?? false }));
  return { description: at.description ?? "", keys: inside };
}
