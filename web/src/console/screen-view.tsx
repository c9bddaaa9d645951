// A screen in the document: of all its lines only those that can be seen, each drawn again only when it changed.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Line, rangeAt, styleAt, wideRanges } from "../model/line.ts";
import { type Screen, classesOf } from "../model/screen.ts";
import { Scroll } from "../model/virtual.ts";
import { instantOfDay } from "./stamp.ts";

const ROW = 18;

export interface ScreenHandle {
  /** Has to be called after the screen was fed; draws in the next frame. */
  due(): void;
  toEnd(): void;
  /** Brings a line into the middle and marks it. */
  show(line: number): void;
  /** Marks where this text stands; "" marks nothing. */
  mark(needle: string): void;
}

export function ScreenView({ screen, handle, stamps, onType, onAway, label }: {
  screen: Screen;
  handle: { current: ScreenHandle | null };
  stamps: boolean;
  onType: ((text: string) => void) | undefined;
  /** A person has left the end, where new lines come, or is back there. */
  onAway: (isAway: boolean) => void;
  label: string;
}) {
  const outer = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const view = useRef<View | null>(null);
  useLayoutEffect(() => {
    const made = (view.current = new View(screen, outer.current!, body.current!, list.current!));
    handle.current = made;
    return () => {
      made.close();
      if (handle.current === made) handle.current = null;
    };
  }, [screen]);
  useEffect(() => view.current?.stamp(stamps), [stamps, screen]);
  return (
    <div class="screen" ref={outer} role="log" aria-label={label} aria-live="off" tabIndex={0}
      onScroll={() => onAway(!view.current?.scrolled())}
      onPaste={(event) => onType?.(event.clipboardData?.getData("text") ?? "")}
      onKeyDown={(event) => {
        const text = bytesOf(event);
        if (text === undefined || !onType) return;
        event.preventDefault();
        onType(text);
      }}>
      <div class="all" ref={body}><div class="there" ref={list} /></div>
    </div>
  );
}

class View implements ScreenHandle {
  #screen: Screen;
  #outer: HTMLElement;
  #body: HTMLElement;
  #list: HTMLElement;
  #scroll = new Scroll(ROW);
  #frame = 0;
  #atEnd = true;
  #stamps = false;
  #needle = "";
  #chosen: Line | undefined;
  #observer: ResizeObserver;
  /** What each row of the document shows, so that what is the same is not touched. */
  #shown: { line: Line; edition: number; cursor: number }[] = [];

  constructor(screen: Screen, outer: HTMLElement, body: HTMLElement, list: HTMLElement) {
    this.#screen = screen;
    this.#outer = outer;
    this.#body = body;
    this.#list = list;
    this.#observer = new ResizeObserver(() => this.due());
    this.#observer.observe(outer);
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#observer.disconnect();
  }

  stamp(stamps: boolean): void {
    this.#stamps = stamps;
    this.#shown = [];
    this.due();
  }

  due(): void {
    if (this.#frame === 0)
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0;
        this.#draw();
      });
  }

  toEnd(): void {
    this.#atEnd = true;
    this.due();
  }

  show(line: number): void {
    this.#atEnd = false;
    this.#chosen = this.#screen.lines[line];
    this.#scroll.rows = this.#screen.lines.length;
    this.#outer.scrollTop = this.#scroll.topFor(line, this.#outer.clientHeight);
    this.#shown = [];
    this.due();
  }

  mark(needle: string): void {
    this.#needle = needle.toLowerCase();
    this.#chosen = undefined;
    this.#shown = [];
    this.due();
  }

  /** Whether the end is seen. */
  scrolled(): boolean {
    const { scrollTop, clientHeight, scrollHeight } = this.#outer;
    this.#atEnd = scrollTop + clientHeight >= scrollHeight - ROW;
    this.due();
    return this.#atEnd;
  }

  #draw(): void {
    const { lines } = this.#screen;
    this.#scroll.rows = lines.length;
    const height = `${this.#scroll.height}px`;
    if (this.#body.style.height !== height) this.#body.style.height = height;
    if (this.#atEnd) this.#outer.scrollTop = this.#scroll.height;
    const { first, last, y } = this.#scroll.window(this.#outer.scrollTop, this.#outer.clientHeight, 2);
    this.#list.style.transform = `translateY(${y}px)`;
    for (let i = first; i < last; i++) this.#row(i - first, lines[i]!, i === this.#screen.cursorLine && this.#screen.cursorVisible ? this.#screen.column : -1);
    while (this.#list.childElementCount > last - first) {
      this.#list.lastElementChild!.remove();
      this.#shown.pop();
    }
  }

  #row(at: number, line: Line, cursor: number): void {
    const shown = this.#shown[at];
    if (shown && shown.line === line && shown.edition === line.edition && shown.cursor === cursor) return;
    this.#shown[at] = { line, edition: line.edition, cursor };
    const element = (this.#list.children[at] as HTMLElement | undefined) ?? this.#list.appendChild(document.createElement("div"));
    const parts: (Node | string)[] = this.#stamps ? [span("stamp", instantOfDay(line.at))] : [];
    parts.push(...spansOf(line, cursor, hitsOf(line.text, this.#needle)));
    element.replaceChildren(...parts);
    element.className = line === this.#chosen ? "chosen" : "";
  }
}

const span = (names: string, text: string): HTMLElement => Object.assign(document.createElement("span"), { className: names, textContent: text });

/** Where `needle` stands in a text. */
function hitsOf(text: string, needle: string): readonly number[] {
  if (needle === "") return [];
  const hits: number[] = [];
  const all = text.toLowerCase();
  for (let at = all.indexOf(needle); at >= 0; at = all.indexOf(needle, at + needle.length)) for (let i = 0; i < needle.length; i++) hits.push(at + i);
  return hits;
}

function spansOf(line: Line, column: number, hits: readonly number[]): (Node | string)[] {
  const [cursor, behind] = column < 0 ? [-1, -1] : rangeAt(line, column);
  const text = behind > line.text.length ? line.text + " ".repeat(behind - line.text.length) : line.text;
  const cuts = new Set([0, text.length]);
  for (let i = 0; i < line.spans.length; i += 2) cuts.add(line.spans[i]!);
  if (cursor >= 0) cuts.add(cursor).add(behind);
  const wide = new Set<number>();
  for (const [from, to] of wideRanges(line)) {
    wide.add(from);
    cuts.add(from).add(to);
  }
  const hit = new Set(hits);
  for (const at of hits) {
    if (!hit.has(at - 1)) cuts.add(at);
    if (!hit.has(at + 1)) cuts.add(at + 1);
  }
  const sorted = [...cuts].filter((cut) => cut <= text.length).sort((a, b) => a - b);
  const parts: (Node | string)[] = [];
  for (let i = 0; i + 1 < sorted.length; i++) {
    const [from, to] = [sorted[i]!, sorted[i + 1]!];
    const names = [classesOf(styleAt(line, from)), wide.has(from) ? "wide" : "", from === cursor ? "cursor" : "", hit.has(from) ? "hit" : ""].filter(Boolean).join(" ");
    parts.push(names ? span(names, text.slice(from, to)) : text.slice(from, to));
  }
  return parts;
}

const KEYS: Readonly<Record<string, string>> = {
  Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b", ArrowUp: "\x1b[A", ArrowDown: "\x1b[B", ArrowRight: "\x1b[C", ArrowLeft: "\x1b[D",
  Home: "\x1b[H", End: "\x1b[F", Delete: "\x1b[3~", PageUp: "\x1b[5~", PageDown: "\x1b[6~",
};

/** What a key sends to the target, or undefined when it is the browser's. */
function bytesOf(event: KeyboardEvent): string | undefined {
  if (event.metaKey || event.altKey || event.isComposing) return undefined;
  if (event.ctrlKey) {
    // Ctrl-C copies while something is selected, as people expect in a browser.
    if (event.key === "c" && !getSelection()?.isCollapsed) return undefined;
    return /^[a-z[\\\]]$/.test(event.key) && event.key !== "v" ? String.fromCharCode(event.key.toUpperCase().charCodeAt(0) & 31) : undefined;
  }
  // Tab leaves the console with Shift, so that no keyboard is caught in it.
  if (event.key === "Tab" && event.shiftKey) return undefined;
  return KEYS[event.key] ?? ([...event.key].length === 1 ? event.key : undefined);
}
