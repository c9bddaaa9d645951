import assert from "node:assert/strict";
import { test } from "node:test";
import { kindAt, keysAt, wordAt } from "../src/model/caret.ts";
import { exampleRules, fileOf } from "../src/model/rules.ts";
import { type Schema, describe } from "../src/model/schema.ts";

const PIPELINE = `version: 1
benches:
  - id: smoke
    device: { name: demo, select: { target: x } }
    steps:
      - run: |
          make all: fast
        env:
          TOKEN: { secret: CAL_TOKEN }
          secret: plain
      # env:
      - run: ./y
        env: { A: { secret: OTHER }, B: b, C: [1, 2] }

`;

/** The keys where `|` would be, before the word. */
const at = (word: string, text = PIPELINE): string => keysAt(text, text.indexOf(word)).join(".");

test("the keys around the caret", () => {
  assert.equal(at("1\n"), "version");
  assert.equal(at("smoke"), "benches.id");
  assert.equal(at("demo"), "benches.device.name");
  assert.equal(at("name: demo"), "benches.device");
  assert.equal(at("select"), "benches.device");
  assert.equal(at("x }"), "benches.device.select.target");
  assert.equal(at(" }\n    steps"), "benches.device.select");
  assert.equal(at("CAL_TOKEN"), "benches.steps.env.TOKEN.secret");
  assert.equal(at("plain"), "benches.steps.env.secret");
  assert.equal(at("OTHER"), "benches.steps.env.A.secret");
  assert.equal(at("b, C"), "benches.steps.env.B");
  assert.equal(at("2] }"), "benches.steps.env.C");
  assert.equal(keysAt(PIPELINE, PIPELINE.length).join("."), "");
  assert.equal(at("|", "steps:\n  - run: x\n    |\n").replace(/^/, "."), ".steps");
  assert.equal(at("|", "steps:\n- |"), "steps");
  assert.equal(at("|", 'device: { select: { target: "{{pack.target}}" }, |'), "device");
});

test("secrets and devices are known where they are named, and nowhere else", () => {
  assert.equal(kindAt(keysAt(PIPELINE, PIPELINE.indexOf("demo"))), "device");
  assert.equal(kindAt(keysAt(PIPELINE, PIPELINE.indexOf("CAL_TOKEN"))), "secret");
  assert.equal(kindAt(keysAt(PIPELINE, PIPELINE.indexOf("plain"))), undefined);
  assert.equal(kindAt(["benches", "name"]), undefined);
});

test("a name goes in place of the word at the caret", () => {
  const text = "{ secret: CAL_TO }";
  assert.deepEqual(wordAt(text, 13), { from: 10, to: 16 });
  assert.deepEqual(wordAt("secret: ", 8), { from: 8, to: 8 });
});

const SCHEMA: Schema = {
  properties: { builds: { items: { $ref: "#/$defs/Build" }, description: "Programs." }, wait: { $ref: "#/$defs/Time", description: "How long." }, vars: { additionalProperties: { $ref: "#/$defs/Time" } } },
  $defs: {
    Time: { description: "A length of time." },
    Build: { description: "One of them.", required: ["id"], properties: { id: {}, run: { anyOf: [{}, { items: {} }] }, rail: { anyOf: [{}, { $ref: "#/$defs/Rail" }] } } },
    Rail: { properties: { on: { $ref: "#/$defs/Time" } } },
  },
};

test("a schema says what may be there", () => {
  assert.deepEqual(describe(SCHEMA, [])!.keys.map(({ name, description }) => [name, description]), [["builds", "Programs."], ["wait", "How long."], ["vars", ""]]);
  assert.equal(describe(SCHEMA, ["builds"])!.description, "Programs.");
  assert.deepEqual(describe(SCHEMA, ["builds"])!.keys.map(({ name, isRequired }) => [name, isRequired]), [["id", true], ["run", false], ["rail", false]]);
  assert.deepEqual(describe(SCHEMA, ["builds", "rail"])!.keys, [{ name: "on", description: "A length of time.", isRequired: false }]);
  assert.deepEqual(describe(SCHEMA, ["vars", "any"]), { description: "A length of time.", keys: [] });
  assert.equal(describe(SCHEMA, ["nothing", "there"]), undefined);
});

test("rules without a version get one, and keep their lines", () => {
  assert.equal(fileOf("rules:\n  - name: a\n\n"), "rules:\n  - name: a\nversion: 1\n");
  for (const text of ["version: 1\nrules: []", '{\n  "version": 1 }', "{ rules: [], version: 1 }", 'rules: []\n"version": 1']) assert.equal(fileOf(text), text);
  assert.equal(fileOf('{ "rules": [] }'), '{version: 1,  "rules": [] }');
  assert(/pulse: \{ channel: LA1[^]*edge: LA2[^]*channel: ADC/.test(exampleRules(["LA1", "LA2"], ["ADC"])));
});
