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
// What packs well stands near: gzip looks back 32 kB. So modules come by folder, what draws behind what does not, the folders in
// the order that takes least, which makes three in a hundred.
const FOLDERS = ["api", "ui", "console", "joblog", "model", "viewer", "shell", "job", "pages"];
function inOrder() {
  const rank = (one) => FOLDERS.indexOf(one.split("/")[0]);
  const all = filesOf("src").map((one) => one.slice(4)).filter((one) => /\.tsx?$/.test(one) && rank(one) >= 0 && one !== "api/schema.ts");
  const isPage = (one) => Number(one.endsWith("x"));
  all.sort((a, b) => rank(a) - rank(b) || isPage(a) - isPage(b) || (a < b ? -1 : 1));
  return all.map((one) => `import "./${one}";`).join("");
}

// Elements become calls with their children behind each other, which take less than objects with lists of them, packed, too. What
// is put before a file is on its first line, so that its lines keep their numbers.
const ELEMENTS = 'import { Fragment as jsxFragment, createElement as jsxElement } from "preact";';
function elements({ path }) {
  const isFirst = relative(here, path).replaceAll("\\", "/") === "src/main.tsx";
  return { contents: (isFirst ? inOrder() : "") + ELEMENTS + readFileSync(path, "utf8"), loader: "tsx" };
}

const options = {
  // No extension of a browser looks into the signals of what is served.
  define: { "window.__PREACT_SIGNALS_DEVTOOLS__": "false" },
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", theme: "src/theme.ts", style: "src/style/index.css" },
  outdir: dist,
  bundle: true,
  format: "esm",
  target: ["chrome111", "firefox114", "safari16.4"],
  tsconfigRaw: { compilerOptions: { jsx: "react", jsxFactory: "jsxElement", jsxFragmentFactory: "jsxFragment", verbatimModuleSyntax: true } },
  plugins: [{ name: "elements", setup: (build) => build.onLoad({ filter: /\.tsx$/ }, elements) }],
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

/** Files of a folder, by their paths from here. */
function filesOf(folder) {
  return readdirSync(join(here, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(here, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/"));
}

/** Hashes everything that dist/ is made of. `cargo xtask tidy` computes the same in Rust: without Node it shows that dist/ was forgotten. */
function sources() {
  const hash = createHash("sha256");
  for (const path of [...filesOf("src"), "index.html", "build.mjs", "package-lock.json"].sort())
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
  const context = await esbuild.context({ ...options, plugins: [...options.plugins, report] });
  await context.watch();
} else {
  finish(await esbuild.build(options));
}
