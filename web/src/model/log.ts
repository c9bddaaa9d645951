// A job's log: text in the pieces in which it came, steps that fold, and which line is where on the screen. Pure.

export type Outcome = "running" | "passed" | "failed" | "skipped" | "none";

export interface Step {
  readonly title: string;
  /** First line of it, and the one behind the last. */
  readonly from: number;
  to: number;
  outcome: Outcome;
  folded: boolean;
}

/** A row on the screen: the heading of a step, or a line. */
export type Row = { readonly step: number } | { readonly line: number };

interface Piece {
  readonly text: string;
  readonly firstLine: number;
}

/** Keeps where lines begin, not a string for each: 100,000 lines cost what their text costs. */
export class Log {
  readonly steps: Step[] = [];
  /** What is said of the log itself; each once. */
  readonly notes = new Set<string>();
  #pieces: Piece[] = [];
  /** Where each line begins in its piece. */
  #starts: number[] = [];
  #unfinished = "";
  #rowsBefore: number[] = [];
  #rows = 0;

  get lines(): number {
    return this.#starts.length;
  }

  get rows(): number {
    return this.#rows;
  }

  begin(title: string): void {
    this.#finishLine();
    this.steps.push({ title, from: this.lines, to: this.lines, outcome: "running", folded: false });
    this.#count();
  }

  end(outcome: Outcome): void {
    this.#finishLine();
    const last = this.steps.at(-1);
    if (last) last.outcome = outcome;
  }

  /** A line that the page adds. */
  note(text: string): void {
    this.notes.add(text);
    this.#finishLine();
    this.append(`${text}\n`);
  }

  append(text: string): void {
    if (this.steps.length === 0) this.begin("Log");
    const all = this.#unfinished + text;
    const cut = all.lastIndexOf("\n") + 1;
    this.#unfinished = all.slice(cut);
    if (cut === 0) return;
    this.#pieces.push({ text: all.slice(0, cut), firstLine: this.lines });
    for (let at = 0; at < cut; at = all.indexOf("\n", at) + 1) this.#starts.push(at);
    this.steps.at(-1)!.to = this.lines;
    this.#count();
  }

  #finishLine(): void {
    if (this.#unfinished !== "") this.append("\n");
  }

  text(line: number): string {
    const { text, firstLine } = this.#pieces[this.#pieceOf(line)]!;
    const start = this.#starts[line]!;
    return line < firstLine ? "" : text.slice(start, text.indexOf("\n", start));
  }

  fold(step: number, folded: boolean): void {
    const one = this.steps[step];
    if (one) one.folded = folded;
    this.#count();
  }

  foldAll(folded: boolean): void {
    for (const step of this.steps) step.folded = folded;
    this.#count();
  }

  row(index: number): Row {
    const step = lastNotAbove(this.#rowsBefore, index);
    const inside = index - this.#rowsBefore[step]! - 1;
    return inside < 0 ? { step } : { line: this.steps[step]!.from + inside };
  }

  /** The row of a line; opens the step that holds it. */
  show(line: number): number {
    const step = this.steps.findIndex((one) => line >= one.from && line < one.to);
    if (step < 0) return 0;
    if (this.steps[step]!.folded) this.fold(step, false);
    return this.#rowsBefore[step]! + 1 + line - this.steps[step]!.from;
  }

  /** Lines with `needle` in them, at most `most`. */
  search(needle: string, most = 10_000): readonly number[] {
    const found: number[] = [];
    if (needle === "") return found;
    const wanted = new RegExp(needle.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
    for (let piece = 0; piece < this.#pieces.length; piece++) {
      const { text, firstLine } = this.#pieces[piece]!;
      const end = this.#pieces[piece + 1]?.firstLine ?? this.lines;
      let line = firstLine;
      wanted.lastIndex = 0;
      for (let hit = wanted.exec(text); hit && found.length < most; hit = wanted.exec(text)) {
        while (line + 1 < end && this.#starts[line + 1]! <= hit.index) line++;
        found.push(line);
        wanted.lastIndex = line + 1 < end ? this.#starts[line + 1]! : text.length;
      }
    }
    return found;
  }

  #count(): void {
    let rows = 0;
    this.#rowsBefore = this.steps.map((step) => {
      const before = rows;
      rows += 1 + (step.folded ? 0 : step.to - step.from);
      return before;
    });
    this.#rows = rows;
  }

  #pieceOf(line: number): number {
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#pieces[middle]!.firstLine <= line) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function lastNotAbove(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Takes text in which `== title` begins a step and `-- title: passed` ends it. */
export function readMarks(log: Log, text: string): void {
  const mark = /^(?:={2,3} (.+)|-- .+: (passed|failed|skipped))\n/gm;
  let from = 0;
  for (let match = mark.exec(text); match; match = mark.exec(text)) {
    if (match.index > from) log.append(text.slice(from, match.index));
    if (match[1] !== undefined) log.begin(match[1]);
    else log.end(match[2] as Outcome);
    from = match.index + match[0].length;
  }
  if (from < text.length) log.append(text.slice(from));
}

export function parseLog(text: string): Log {
  const log = new Log();
  readMarks(log, text);
  return log;
}
