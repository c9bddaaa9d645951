// Bundles src/ into dist/: `node build.mjs` for what is committed, `node build.mjs --watch` into .watch/ while editing,
// `--out FOLDER` into another folder.
// The same sources give the same bytes: nothing of the machine, the time or the folder goes in.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const watch = process.argv.includes("--watch");
const out = process.argv.includes("--out") ? process.argv[process.argv.indexOf("--out") + 1] : undefined;
const dist = resolve(here, out ?? (watch ? ".watch" : "dist"));

// One program, not one for each page: it is small, one request brings it, and an open page never lacks a part of itself
// after the server was updated. Names carry no hash, so that what is committed has readable differences; the folder does.
const options = {
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", theme: "src/theme.ts", style: "src/style/index.css" },
  outdir: dist,
  bundle: true,
  format: "esm",
  target: ["chrome111", "firefox114", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  minify: !watch,
  sourcemap: watch ? "linked" : false,
  legalComments: "none",
  metafile: true,
  write: false,
};

function finish({ outputFiles, metafile }) {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const hash = createHash("sha256");
  for (const { path, contents } of outputFiles.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(basename(path)).update("\0").update(contents);
    writeFileSync(path, contents);
  }
  const folder = `/assets/${hash.digest("hex").slice(0, 16)}`;
  writeFileSync(join(dist, "index.html"), readFileSync(join(here, "index.html"), "utf8").replaceAll("{folder}", folder));
  writeFileSync(join(dist, "LICENSES.txt"), licences(metafile));
  writeFileSync(join(dist, "SOURCES"), `${sources()}\n`);
  return outputFiles.length;
}

/** Hashes everything that dist/ is made of. `cargo xtask tidy` computes the same in Rust: without Node it shows that dist/ was forgotten. */
function sources() {
  const inSrc = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(here, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/"));
  const hash = createHash("sha256");
  for (const path of [...inSrc, "index.html", "build.mjs", "package-lock.json"].sort())
    hash.update(path).update("\0").update(readFileSync(join(here, path))).update("\0");
  return hash.digest("hex");
}

/** The licences of the packages whose code is in the bundle: found, not listed by hand. */
function licences(metafile) {
  const packages = new Set(
    Object.keys(metafile.inputs).flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []),
  );
  return [...packages]
    .sort()
    .map((name) => {
      const { version, license } = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
      return `${name} ${version} (${license})\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`;
    })
    .join("\n----\n\n");
}

if (watch) {
  const report = { name: "report", setup: (build) => build.onEnd((result) => result.outputFiles && console.log("built", finish(result), "files")) };
  const context = await esbuild.context({ ...options, plugins: [report] });
  await context.watch();
} else {
  finish(await esbuild.build(options));
}
