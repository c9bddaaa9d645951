// A text with numbers of lines, in which lines are marked. The browser's own text area: it knows every way to write.
import { useEffect, useRef } from "preact/hooks";
import { wordAt } from "../model/caret.ts";

export interface EditorHandle {
  /** Puts the caret at the beginning of a line, from 1, and shows it. */
  show(line: number): void;
  /** Puts a name in place of the word at the caret. */
  put(name: string): void;
}

export function Editor({ label, value, marked, handle, onInput, onCaret, onSubmit }: {
  label: string;
  value: string;
  /** Lines with something wrong, from 1. */
  marked: ReadonlySet<number>;
  handle: { current: EditorHandle | null };
  onInput: (value: string) => void;
  /** How many characters are before the caret. */
  onCaret: (caret: number) => void;
  /** Ctrl or ⌘ with Enter. */
  onSubmit: () => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLDivElement>(null);
  const lines = value.split("\n").length;
  const input = useRef(onInput);
  input.current = onInput;
  useEffect(() => {
    handle.current = {
      show(line) {
        const element = area.current!;
        const at = element.value.split("\n", line - 1).reduce((sum, text) => sum + text.length + 1, 0);
        element.focus();
        element.setSelectionRange(at, at);
        element.scrollTop = Math.max(0, (line - 1) * 20 - element.clientHeight / 2);
        onCaret(at);
      },
      put(name) {
        const element = area.current!;
        const { from, to } = wordAt(element.value, element.selectionStart);
        element.focus();
        element.setRangeText(name, from, to, "end");
        input.current(element.value);
      },
    };
  }, []);
  const follow = (element: HTMLTextAreaElement): void => onCaret(element.selectionStart);
  return (
    <div class="editor">
      <div class="numbers" ref={numbers} aria-hidden="true">
        {Array.from({ length: lines }, (_, i) => <div key={i} class={marked.has(i + 1) ? "marked" : ""}>{i + 1}</div>)}
      </div>
      <textarea ref={area} aria-label={label} value={value} spellcheck={false} autoComplete="off" autoCapitalize="off" wrap="off"
        onInput={(event) => {
          onInput(event.currentTarget.value);
          follow(event.currentTarget);
        }}
        onClick={(event) => follow(event.currentTarget)}
        onKeyUp={(event) => follow(event.currentTarget)}
        onScroll={(event) => (numbers.current!.scrollTop = event.currentTarget.scrollTop)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          const element = event.currentTarget;
          event.preventDefault();
          if (event.ctrlKey || event.metaKey) return onSubmit();
          // The next line begins where this one does, or two further behind a colon.
          const line = element.value.slice(0, element.selectionStart).split("\n").at(-1)!;
          const indent = /^\s*(?:- )?/.exec(line)![0].replace("-", " ");
          element.setRangeText(`\n${indent}${/:\s*$/.test(line) ? "  " : ""}`, element.selectionStart, element.selectionEnd, "end");
          onInput(element.value);
          follow(element);
        }} />
    </div>
  );
}
