import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleRules, faultsOf, readRules } from "../src/model/rules.ts";
import { Checker, type Schema } from "../src/model/schema.ts";
import { YamlError, parseYaml } from "../src/model/yaml.ts";

const RULES = `# what must hold
version: 1
channels: { clk: LA1, rst: LA2 } # names
rules:
  - name: clock runs at 1 MHz
    frequency: { channel: clk, value: 1MHz, tolerance: 1% }
    from: 1ms
  - name: "it's # here"
    i2c: { address: 0x76, answered: true,
           when: 'once' }
  - bytes: { decoder: i2c, bytes: "DE AD ?? 01", max: 0 }
    name: no: colon
`;

test("rules as people write them", () => {
  const { value, lines } = parseYaml(RULES);
  assert.deepEqual(value, {
    version: 1,
    channels: { clk: "LA1", rst: "LA2" },
    rules: [
      { name: "clock runs at 1 MHz", frequency: { channel: "clk", value: "1MHz", tolerance: "1%" }, from: "1ms" },
      { name: "it's # here", i2c: { address: 0x76, answered: true, when: "once" } },
      { bytes: { decoder: "i2c", bytes: "DE AD ?? 01", max: 0 }, name: "no: colon" },
    ],
  });
  assert.equal(lines.get("rules[0].frequency"), 6);
  assert.equal(lines.get("rules[1].i2c.when"), 10);
  assert.equal(lines.get("rules[2]"), 11);
  assert.equal(lines.get("rules[2].name"), 12);
});

test("block texts, nested lists and JSON", () => {
  assert.deepEqual(parseYaml("steps:\n- run: |\n    make # all\n    size x\n  if: a == b\n- - 1\n  - 2.5\n").value, { steps: [{ run: "make # all\nsize x\n", if: "a == b" }, [1, 2.5]] });
  const json = { a: [1, { b: 'x "y"' }, null, true], c: {}, d: "" };
  assert.deepEqual(parseYaml(JSON.stringify(json, null, 2)).value, json);
  assert.deepEqual(parseYaml(JSON.stringify(json)).value, json);
  assert.deepEqual(parseYaml("a: 007\nb: 1.10x\nc:\nd: -1e3").value, { a: "007", b: "1.10x", c: null, d: -1000 });
});

test("what is wrong has its line", () => {
  const fails = (text: string, line: number): void => {
    try {
      parseYaml(text);
    } catch (error) {
      assert(error instanceof YamlError);
      return assert.equal(error.line, line, text);
    }
    assert(false, text);
  };
  fails("a: 1\na: 2", 2);
  fails("a: 1\nb: *x", 2);
  fails("a: 1\n\tb: 2", 2);
  fails("a:\n  - 1\n b: 2", 3);
  fails("a: {b: 1\nc: [", 1);
  fails(`a: ${"[".repeat(60)}${"]".repeat(60)}`, 1);
  assert.equal(({} as Record<string, unknown>)["x"], undefined);
  assert.equal(Object.getPrototypeOf(parseYaml("__proto__: {x: 1}").value), Object.prototype);
});

test("what the server says of a path is shown at its line", () => {
  const { body, lines, faults } = readRules("- name: a\n  pulse: { channel: LA1,\n    mni: 1us }\n- nme: b");
  assert.deepEqual(faults, []);
  assert.equal((body as { rules: unknown[] }).rules.length, 2);
  assert.deepEqual(faultsOf(lines, [{ path: "rules[0].pulse.mni", message: "no" }, { path: "rules[1].nme", message: "what" }, { path: "rules[0].pulse.channel.x", message: "x" }, { path: "", message: "all" }]).map(({ line }) => line), [3, 4, 2, undefined]);
  assert.equal(readRules("a: [").faults[0]!.line, 1);
  assert.deepEqual(readRules(exampleRules(["LA1", "LA2"], ["ADC"])).faults, []);
});

const SCHEMA: Schema = {
  type: "object",
  additionalProperties: false,
  anyOf: [{ required: ["builds"] }, { required: ["benches"] }],
  required: ["version"],
  properties: { version: { const: 1 }, builds: { type: "array", maxItems: 2, items: { $ref: "#/$defs/Build" } }, benches: { type: "array" }, wait: { $ref: "#/$defs/Time", description: "How long." } },
  $defs: {
    Time: { type: "string", pattern: "^[0-9]+(ms|s)$", description: "A length of time.", examples: ["5s"] },
    Build: { type: "object", additionalProperties: false, required: ["id"], oneOf: [{ required: ["run"] }, { required: ["test"] }], properties: { id: { type: "string" }, run: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, test: { type: "string" }, rail: { oneOf: [{ const: "on" }, { const: "off" }] }, n: { type: "integer", minimum: 1, maximum: 3 } } },
  },
};

test("a schema says what is wrong and what may be there", () => {
  const checker = new Checker(SCHEMA);
  const problems = (text: string): string[] => checker.check(parseYaml(text).value).map(({ path, message }) => `${path}: ${message}`);
  assert.deepEqual(problems("version: 1\nbuilds:\n  - { id: 1, run: [make, 2] }"), []);
  assert.deepEqual(problems("version: 2\nbenches: []"), ["version: must be 1"]);
  assert.deepEqual(problems("version: 1"), [": one of these is missing: builds, benches"]);
  assert.deepEqual(problems("version: 1\nbenches: []\nwait: 5"), ["wait: 5 does not fit: How long, as 5s"]);
  assert.deepEqual(problems("version: 1\nbuilds: [{ id: a, runn: x }]"), ["builds[0]: one of these is missing: run, test", "builds[0].runn: there is no key runn here; did you mean run?"]);
  assert.deepEqual(problems("version: 1\nbuilds: [{ run: x, test: y, rail: no, n: 9 }]"), ["builds[0]: only one of these may be here: run, test", "builds[0]: the key id is missing here", "builds[0].rail: must be one of on, off", "builds[0].n: must be 1 to 3"]);
  assert.deepEqual(problems("version: 1\nbuilds: [{ id: a, run: [{}] }]"), ["builds[0].run[0]: this must be a text"]);
  assert.deepEqual(problems("version: 1\nbuilds:"), ["builds: a value is missing here: it must be a list"]);
  assert.deepEqual(checker.describe("builds[1]")!.keys.map(({ name, isRequired }) => [name, isRequired]).slice(0, 2), [["id", true], ["run", false]]);
  assert.equal(checker.describe("wait")!.description, "How long.");
  assert.equal(checker.describe("nothing.there"), undefined);
});
