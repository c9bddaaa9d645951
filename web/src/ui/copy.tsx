// Copying. Browsers give no clipboard to pages on plain HTTP: there the text is shown and selected instead.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { Sheet } from "./sheet.tsx";
import { toast } from "./toast.tsx";

const shown = signal<{ readonly what: string; readonly text: string } | undefined>(undefined);

/** Copies `text`; `what` names it: "Link". */
export async function copy(what: string, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    shown.value = { what, text };
  }
}

/** Where a text appears that could not be copied: once, in the shell. */
export function CopySheet() {
  const now = shown.value;
  if (!now) return null;
  const close = (): void => void (shown.value = undefined);
  return (
    <Sheet title={now.what} onClose={close}>
      <div class="stack">
        <p>On an address without HTTPS, browsers let no page copy. It is selected: press Ctrl+C or ⌘C.</p>
        <Selected label={now.what} text={now.text} />
        <div class="sheet-end"><Button label="Done" kind="main" onClick={close} /></div>
      </div>
    </Sheet>
  );
}

function Selected({ label, text }: { label: string; text: string }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current!.select(), [text]);
  return <input ref={input} class="mono" readOnly aria-label={label} value={text} onFocus={(event) => event.currentTarget.select()} />;
}

/** A text in a box with "Copy": a secret, a command, an address. */
export const Copyable = ({ label, text }: { label: string; text: string }) => (
  <span class="copyable">
    <input class="mono" readOnly aria-label={label} value={text} onFocus={(event) => event.currentTarget.select()} />
    <Button icon="copy" label="Copy" title={`Copy ${label.toLowerCase()}`} onClick={() => void copy(label, text)} />
  </span>
);

/** A small button that copies. */
export const CopyButton = ({ what, text }: { what: string; text: string }) => <Button icon="copy" label={`Copy ${what.toLowerCase()}`} hidden onClick={() => void copy(what, text)} />;
