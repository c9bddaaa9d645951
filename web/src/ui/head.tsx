// The top of a page: its name, what is to be said of it in a line, what can be done. It names the browser's tab, too.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

export function Head({ title, note, children }: { title: string; note?: ComponentChildren; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} – hostd`;
  }, [title]);
  return (
    <div class="head">
      <h1>{title}</h1>
      {note && <div class="note">{note}</div>}
      {children && <div class="actions">{children}</div>}
    </div>
  );
}
