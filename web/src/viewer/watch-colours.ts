// Canvases have their colours from the style sheet: they are drawn again when it has others.

/** Calls `look` when the colours change, by the system or by the person; ends with what it returns. */
export function watchColours(look: () => void): () => void {
  const stop = new AbortController();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look, { signal: stop.signal });
  const themed = new MutationObserver(look);
  themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  stop.signal.onabort = () => themed.disconnect();
  return () => stop.abort();
}
