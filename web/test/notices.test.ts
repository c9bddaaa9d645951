import assert from "node:assert/strict";
import { test } from "node:test";
import { MARKUPS, envOf, jobsOf, refsOf, shortUrl } from "../src/model/notices.ts";

test("refs are split as people write them, each once", () => {
  assert.deepEqual(refsOf("  main, release/*\nmain\trefs/**/x ,"), ["main", "release/*", "refs/**/x"]);
  assert.deepEqual(refsOf(" \n"), []);
});

test("what jobs something is about", () => {
  assert.equal(jobsOf(null, null), "all jobs");
  assert.equal(jobsOf(null, "main"), "all jobs of main");
  assert.equal(jobsOf("blinky", null), "jobs blinky");
  assert.equal(jobsOf("blinky", "main"), "jobs blinky of main");
});

test("addresses are shortened, and nothing else", () => {
  assert.equal(shortUrl("https://chat.example/hooks/bench?x=1"), "chat.example/hooks/bench");
  assert.equal(shortUrl("http://a.example/"), "a.example");
  assert.equal(shortUrl("javascript:alert(1)"), "javascript:alert(1)");
});

test("a label ends no markup", () => {
  const [markdown, html] = MARKUPS.map(({ of }) => of(`a](javascript:x) "><img onerror=x>&`, "https://a.example/b.svg"));
  assert.equal(markdown, `![a\\](javascript:x) "\\>\\<img onerror=x\\>&](https://a.example/b.svg)`);
  assert.equal(html, `<img alt="a](javascript:x) &quot;&gt;&lt;img onerror=x&gt;&amp;" src="https://a.example/b.svg">`);
});

test("what is copied for a step is what a pipeline takes", () => {
  assert.equal(envOf("CAL_TOKEN"), "env: { CAL_TOKEN: { secret: CAL_TOKEN } }");
});
