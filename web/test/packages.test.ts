// What ships is what docs/web.md says of it: a package more, or another version, shows here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly license?: string; readonly dev?: boolean; readonly hasInstallScript?: boolean; readonly resolved?: string }>>;
}
const installed = Object.entries((JSON.parse(read("package-lock.json")) as Lock).packages).flatMap(([path, one]) => (path === "" ? [] : [{ name: path.slice(path.lastIndexOf("node_modules/") + 13), ...one }]));

test("every package that ships is in the document, with its version and licence", () => {
  const rows = read("../docs/web.md").split("\n").filter((line) => line.startsWith("| `"));
  const shipped = [...read("dist/LICENSES.txt").matchAll(/^(@?[\w/.-]+) (\d+\.\d+\.\d+) \(([^)]+)\)$/gm)];
  assert(shipped.length >= 3);
  for (const [, name, version, licence] of shipped) assert(rows.some((row) => row.includes(`\`${name}\``) && row.includes(version!) && row.includes(licence!)), `${name} ${version} ${licence}`);
  // And the other way round: what is not for development alone ships.
  assert.deepEqual(installed.filter(({ dev }) => !dev).map(({ name }) => name).sort(), shipped.map(([, name]) => name!).sort());
});

test("packages for development are named, and none is from elsewhere", () => {
  const page = read("../docs/web.md");
  for (const name of Object.keys((JSON.parse(read("package.json")) as { devDependencies: object }).devDependencies)) assert(page.includes(`\`${name}\``), name);
  for (const { name, resolved } of installed) assert(resolved === undefined || resolved.startsWith("https://registry.npmjs.org/"), name);
});
