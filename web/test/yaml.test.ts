import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleRules, faultsOf, readRules } from "../src/model/rules.ts";
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
