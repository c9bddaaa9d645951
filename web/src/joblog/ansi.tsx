// A line of a log with its colours. Everything else that would move a cursor is left out.
import type { ComponentChildren } from "preact";
import { classesOf, styled } from "../model/screen.ts";

const ESCAPE = /\x1b\[([\d;]*)m|\x1b\[[\d;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?/g;

export function coloured(line: string): ComponentChildren {
  if (!line.includes("\x1b")) return line;
  const parts = [];
  let style = 0;
  let from = 0;
  for (const match of line.matchAll(ESCAPE)) {
    if (match.index > from) parts.push(<span class={classesOf(style)}>{line.slice(from, match.index)}</span>);
    if (match[1] !== undefined) style = styled(style, match[1].split(";").map(Number));
    from = match.index + match[0].length;
  }
  parts.push(<span class={classesOf(style)}>{line.slice(from)}</span>);
  return parts;
}
