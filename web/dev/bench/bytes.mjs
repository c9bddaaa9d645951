// What a browser loads, packed as the server packs it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const PACKAGES = { preact: ["preact", "preact/hooks"], "the signals": ["@preact/signals"] };

/** What packages take that ship, each packed alone. */
async function packages() {
  const resolveDir = fileURLToPath(new URL("../..", import.meta.url));
  const all = Object.entries(PACKAGES).map(async ([name, modules]) => {
    const contents = modules.map((module) => `export * from "${module}";`).join("");
    const external = name === "preact" ? [] : ["preact", "preact/*"];
    const { outputFiles } = await esbuild.build({ stdin: { contents, resolveDir }, bundle: true, format: "esm", minify: true, write: false, external });
    return `${name} ${(gzipSync(outputFiles[0].contents, { level: 9 }).length / 1000).toFixed(1)}`;
  });
  return (await Promise.all(all)).join(", ");
}

export async function sizes({ dist }) {
  const all = ["index.html", "app.js", "style.css", "theme.js"].map((name) => readFileSync(join(dist, name)));
  const sum = (pack) => all.reduce((total, bytes) => total + pack(bytes).length, 0) / 1000;
  return [{ name: "all files, gzip", values: [sum((bytes) => gzipSync(bytes, { level: 9 }))], unit: "kB", most: 120, note: `brotli ${sum(brotliCompressSync).toFixed(0)}, not packed ${sum((bytes) => bytes).toFixed(0)}; ${await packages()}` }];
}
