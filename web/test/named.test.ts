import assert from "node:assert/strict";
import { test } from "node:test";
import { kindAt, namedIn, wordAt } from "../src/model/named.ts";
import { parseYaml } from "../src/model/yaml.ts";

const PIPELINE = `version: 1
benches:
  - id: smoke
    device: { name: demo }
    steps:
      - run: ./x
        env:
          TOKEN: { secret: CAL_TOKEN }
          secret: plain
      - run: ./y
        env: { A: { secret: OTHER }, B: b }
`;

test("secrets and devices are found where they are named, and nowhere else", () => {
  assert.deepEqual(namedIn(parseYaml(PIPELINE)), [
    { kind: "device", name: "demo", path: "benches[0].device.name" },
    { kind: "secret", name: "CAL_TOKEN", path: "benches[0].steps[0].env.TOKEN.secret" },
    { kind: "secret", name: "OTHER", path: "benches[0].steps[1].env.A.secret" },
  ]);
  assert.equal(kindAt("benches[0].steps[0].env.secret"), undefined);
  assert.equal(kindAt("benches[0].name"), undefined);
});

test("a name goes in place of the word at the caret", () => {
  const text = "{ secret: CAL_TO }";
  assert.deepEqual(wordAt(text, 13), { from: 10, to: 16 });
  assert.deepEqual(wordAt("secret: ", 8), { from: 8, to: 8 });
});
