// What a browser loads, packed as the server packs it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

export function sizes({ dist }) {
  const all = ["index.html", "app.js", "style.css", "theme.js"].map((name) => readFileSync(join(dist, name)));
  const sum = (pack) => all.reduce((total, bytes) => total + pack(bytes).length, 0) / 1000;
  return [{ name: "all files, gzip", values: [sum((bytes) => gzipSync(bytes, { level: 9 }))], unit: "kB", most: 120, note: `brotli ${sum(brotliCompressSync).toFixed(0)}, not packed ${sum((bytes) => bytes).toFixed(0)}` }];
}
