// The log of a plugin, as it grows.
import { useRef } from "preact/hooks";
import { call } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import type { PluginsLogLine } from "../api/schema.ts";
import { query, setQuery } from "../router.ts";
import { Search } from "../ui/search.tsx";
import { Loaded } from "../ui/states.tsx";

/** The newest lines that are kept in the page. */
const KEPT_MAX = 2000;

export function PluginLog({ id }: { id: string }) {
  const lines = useRef<readonly PluginsLogLine[]>([]);
  const next = useRef(0);
  const log = useResource(`plugin log ${id}`, async (signal) => {
    const page = await call("GET /plugins/{id}/logs", { path: { id }, query: { from: next.current } }, signal);
    next.current = page.next;
    lines.current = [...lines.current, ...page.lines].slice(-KEPT_MAX);
    return lines.current;
  }, 2000);
  const q = query.value.get("q") ?? "";
  return (
    <section aria-labelledby="plugin-log">
      <div class="section-head">
        <h2 id="plugin-log">Log</h2>
        <div class="actions"><Search label="Search the log" value={q} onInput={(text) => setQuery({ q: text })} /></div>
      </div>
      <Loaded resource={log} rows={4}>
        {(all) => {
          const shown = all.filter(({ message, level }) => `${level} ${message}`.toLowerCase().includes(q.toLowerCase()));
          if (shown.length === 0) return <p class="quiet">{all.length === 0 ? "It has written nothing yet." : "No line fits the search."}</p>;
          return (
            <ol class="plugin-log" aria-label="Log" tabIndex={0}>
              {shown.map(({ number, at, level, message }) => (
                <li key={number} class={level}><time dateTime={at}>{new Date(at).toLocaleTimeString()}</time> <span class="level">{level}</span> <span class="message">{message}</span></li>
              ))}
            </ol>
          );
        }}
      </Loaded>
    </section>
  );
}
