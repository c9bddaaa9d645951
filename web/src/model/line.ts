// A line of a terminal's screen: a string with spans of style. As long as every character takes one column, a column is a
// position in the string; otherwise what changes its middle goes through cells. Pure.
import { clusters, joins, widthOf } from "./width.ts";

/** Attributes of a span, packed; 0 is the default. `screen.ts` says which bit is what. */
export type Style = number;

export interface Line {
  text: string;
  /** Pairs: where in the text a style begins, and the style. The first one begins at 0 unless all is default. */
  spans: number[];
  columns: number;
  /** Some characters take two columns, or none. */
  mixed: boolean;
  /** When its first byte came, in milliseconds. */
  at: number;
  /** Grows with each change, so that a view knows what to draw again. */
  edition: number;
}

/** What stands in a column. The second one of two has none of its own. */
export type Cell = [text: string, style: Style];

const SECOND = "";

export function append(line: Line, run: string, style: Style, columns: number): void {
  const last = line.spans.length ? line.spans[line.spans.length - 1]! : 0;
  if (style !== last) {
    if (line.spans.length === 0 && line.text.length > 0) line.spans.push(0, 0);
    line.spans.push(line.text.length, style);
  }
  line.text += run;
  line.columns += columns;
}

function cellsOf(line: Line): Cell[] {
  const cells: Cell[] = [];
  let [style, span, at] = [0, 0, 0];
  for (const text of line.mixed ? clusters(line.text) : line.text) {
    while (span < line.spans.length && line.spans[span]! <= at) {
      style = line.spans[span + 1]!;
      span += 2;
    }
    cells.push([text, style]);
    if (line.mixed && widthOf(text) === 2) cells.push([SECOND, style]);
    at += text.length;
  }
  return cells;
}

function build(line: Line, cells: readonly Cell[]): void {
  const spans: number[] = [];
  let [text, style, mixed] = ["", 0, false];
  cells.forEach(([sign, next], i) => {
    const isWide = sign !== SECOND && line.mixed && widthOf(sign) === 2;
    // Of two columns that one thing took, one has something else now: the other one is empty.
    const lonely = sign === SECOND ? i === 0 || widthOf(cells[i - 1]![0] || " ") !== 2 : isWide && cells[i + 1]?.[0] !== SECOND;
    if (sign === SECOND && !lonely) return;
    if (next !== style) {
      if (spans.length === 0 && text !== "") spans.push(0, 0);
      spans.push(text.length, next);
      style = next;
    }
    const shown = lonely ? " " : sign;
    mixed ||= shown.length > 1 || (isWide && !lonely);
    text += shown;
  });
  // Two flags, say, that come to stand side by side are one from then on.
  const columns = mixed ? clusters(text).reduce((sum, sign) => sum + widthOf(sign), 0) : text.length;
  [line.text, line.spans, line.columns, line.mixed] = [text, spans, columns, mixed];
}

/** Changes a line in its middle. */
export function edit(line: Line, change: (cells: Cell[]) => void): void {
  const cells = cellsOf(line);
  change(cells);
  // A cell that comes in may be the first wide one.
  line.mixed ||= cells.some(([text]) => text === SECOND || text.length > 1);
  build(line, cells);
}

/** Puts what takes a column for each of its characters, over what is there. */
export function overwrite(line: Line, from: number, run: string, style: Style): void {
  if (!line.mixed && line.spans.length === 0 && style === 0) {
    line.text = line.text.slice(0, from) + run + line.text.slice(from + run.length);
    line.columns = line.text.length;
    return;
  }
  edit(line, (cells) => {
    for (let i = 0; i < run.length; i++) cells[from + i] = [run[i]!, style];
  });
}

/** Puts characters of any width over what is there. */
export function put(line: Line, from: number, run: string, style: Style): void {
  edit(line, (cells) => {
    let at = from;
    for (const sign of run) {
      cells[at++] = [sign, style];
      if (widthOf(sign) === 2) cells[at++] = [SECOND, style];
    }
  });
}

/** What stands before a column. */
export function before(line: Line, column: number): string {
  if (column > line.columns) return "";
  if (!line.mixed) return line.text[column - 1] ?? "";
  // Mostly the last one, of which a short end of the text says all.
  if (column === line.columns) return clusters(line.text.slice(-TAIL)).at(-1) ?? "";
  const cells = cellsOf(line);
  return cells[column - 1]?.[0] || (cells[column - 2]?.[0] ?? "");
}

/** What stands in one place has so many characters at most, as UTF-16. */
export const TAIL = 32;

/** Joins a character to what stands before a column, if it belongs there; says by how many columns that grew. */
export function join(line: Line, column: number, sign: string, room: number): number | undefined {
  const last = before(line, column);
  if (last === "" || !joins(last, sign)) return undefined;
  if (last.length + sign.length >= TAIL) return 0;
  const grown = Math.min(room, widthOf(last + sign) - widthOf(last));
  const style = styleAt(line, line.text.length);
  line.mixed = true;
  if (column === line.columns) {
    append(line, sign, style, grown);
    // Where there is no room, it is not asked to be wider.
    if (grown < widthOf(last + sign) - widthOf(last)) line.text = line.text.slice(0, -sign.length);
    return grown;
  }
  edit(line, (cells) => {
    const at = cells[column - 1]![0] === SECOND ? column - 2 : column - 1;
    cells[at] = [last + sign, cells[at]![1]];
    if (grown > 0) cells[column] = [SECOND, cells[at]![1]];
  });
  return grown;
}

export function truncate(line: Line, columns: number): void {
  if (line.columns <= columns) return;
  if (line.mixed) {
    edit(line, (cells) => (cells.length = columns));
    return;
  }
  line.text = line.text.slice(0, columns);
  line.columns = columns;
  while (line.spans.length && line.spans[line.spans.length - 2]! >= columns) line.spans.length -= 2;
}

export function styleAt(line: Line, at: number): Style {
  let style = 0;
  for (let i = 0; i < line.spans.length && line.spans[i]! <= at; i += 2) style = line.spans[i + 1]!;
  return style;
}

/** Where in the text what stands in a column begins and ends; behind the last one is as if blanks were there. */
export function rangeAt(line: Line, column: number): readonly [from: number, to: number] {
  const behind = column - line.columns;
  if (behind >= 0) return [line.text.length + behind, line.text.length + behind + 1];
  if (!line.mixed) return [column, column + 1];
  let [at, columns] = [0, 0];
  for (const sign of clusters(line.text)) {
    columns += widthOf(sign);
    if (columns > column) return [at, at + sign.length];
    at += sign.length;
  }
  return [at, at + 1];
}

/** Where in the text what takes two columns begins and ends. */
export function wideRanges(line: Line): readonly (readonly [from: number, to: number])[] {
  if (!line.mixed) return [];
  const all: [number, number][] = [];
  let at = 0;
  for (const sign of clusters(line.text)) {
    if (widthOf(sign) === 2) all.push([at, at + sign.length]);
    at += sign.length;
  }
  return all;
}
