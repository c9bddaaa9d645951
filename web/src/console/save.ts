// What a console has received, as a file: as it is shown.
import { instantOfDay } from "./stamp.ts";
import type { SerialLine } from "./line.ts";

export type Shape = "text" | "times" | "bytes";

export function save(name: string, line: SerialLine, shape: Shape): void {
  const lines = (): string => line.screen.lines.map(({ text, at }) => `${shape === "times" ? `${instantOfDay(at)}  ` : ""}${text.trimEnd()}\n`).join("");
  const blob = shape === "bytes" ? new Blob([line.dump.bytes()]) : new Blob([lines()], { type: "text/plain" });
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: address, download: `${name}-console.${shape === "bytes" ? "bin" : "txt"}` }).click();
  URL.revokeObjectURL(address);
}
