// A log on the screen: steps that fold, search, lines that can be linked to.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Log } from "../model/log.ts";
import { navigate } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Rows, type RowsHandle } from "../ui/rows.tsx";
import { Search } from "../ui/search.tsx";
import { count, several } from "../ui/time.ts";
import { coloured } from "./ansi.tsx";

/** Folded steps stand one below the other: as buttons they take what a finger needs. */
const ROW = { dense: 20, folded: 24 } as const;
const FOUND_MAX = 10_000;

const STEPS: Readonly<Record<string, { readonly icon: IconName; readonly tone: string; readonly word: string }>> = {
  passed: { icon: "check", tone: "ok", word: "passed" },
  failed: { icon: "cross", tone: "bad", word: "failed" },
  skipped: { icon: "minus", tone: "quiet", word: "skipped" },
  running: { icon: "clock", tone: "info", word: "running" },
  none: { icon: "right", tone: "quiet", word: "" },
};

/** `edition` changes when there is more; `state` and `more` stand in its bar. */
export function LogView({ log, edition, follow, state, more }: { log: Log; edition: number; follow: boolean; state?: ComponentChildren; more?: ComponentChildren }) {
  const handle = useRef<RowsHandle>(null);
  const needle = useSignal("");
  const hit = useSignal(-1);
  const folds = useSignal(0);
  const chosen = useSignal(Number(/^#L(\d+)$/.exec(location.hash)?.[1] ?? 0));
  const isThere = chosen.value > 0 && log.lines >= chosen.value;

  // A link to a line: as soon as the line is there.
  useEffect(() => {
    if (isThere) handle.current?.show(log.show(chosen.value - 1));
  }, [log, isThere]);

  // Of a job that is over: where its step failed, which is what people come for.
  const failed = log.steps.find(({ outcome, from, to }) => outcome === "failed" && to > from);
  useEffect(() => {
    if (failed && !follow && chosen.value === 0) handle.current?.show(log.show(failed.to - 1));
  }, [log, failed !== undefined, follow]);

  const found = useMemo(() => (needle.value ? log.search(needle.value, FOUND_MAX) : []), [log, needle.value, edition]);
  const choose = (line: number): void => {
    chosen.value = line;
    navigate(`${location.pathname}${location.search}#L${line}`, "replace");
  };
  const show = (index: number): void => {
    if (found.length === 0) return;
    hit.value = (index + found.length) % found.length;
    const line = found[hit.value]!;
    const row = log.show(line);
    folds.value++;
    choose(line + 1);
    handle.current?.show(row);
  };
  const isFolded = log.steps.length > 0 && log.steps.every(({ folded }) => folded);
  const anyFolded = log.steps.some(({ folded }) => folded);
  const note = needle.value ? `${hit.value < 0 ? "" : `${hit.value + 1} of `}${found.length === FOUND_MAX ? "over 10 000" : count(found.length)}` : undefined;
  return (
    <section class={anyFolded ? "log roomy" : "log"} aria-label="Log">
      <div class="bar">
        {state}
        <span class="small grow">{several(log.lines, "line")}</span>
        <Search label="Search the log" value={needle.value} note={note} onInput={(text) => {
          needle.value = text;
          hit.value = -1;
        }} onKeyDown={(event) => {
          if (event.key === "Enter") show(hit.value + (event.shiftKey ? -1 : 1));
        }} />
        <Button label={isFolded ? "Open all" : "Fold all"} onClick={() => {
          log.foldAll(!isFolded);
          folds.value++;
        }} />
        {more}
      </div>
      <Rows count={log.rows} rowHeight={anyFolded ? ROW.folded : ROW.dense} label="Lines of the log" role="log" handle={handle} follow={follow && !isThere} edition={edition + folds.value} render={(row) => {
        const at = log.row(row);
        if ("step" in at) return <Heading key={`s${at.step}`} log={log} step={at.step} onFold={() => folds.value++} />;
        const number = at.line + 1;
        // The number is no link: forty tab stops would help nobody who uses the keyboard; the search chooses lines, too.
        return (
          <div key={at.line} class={chosen.value === number ? "logline chosen" : "logline"}>
            <span class="number" onClick={() => choose(number)}>{number}</span>
            <span class="text">{coloured(log.text(at.line))}</span>
          </div>
        );
      }} />
    </section>
  );
}

function Heading({ log, step, onFold }: { log: Log; step: number; onFold: () => void }) {
  const { title, from, to, outcome, folded } = log.steps[step]!;
  const { icon, tone, word } = STEPS[outcome]!;
  return (
    <button type="button" class={`step ${tone}`} aria-expanded={!folded} onClick={() => {
      log.fold(step, !folded);
      onFold();
    }}>
      <Icon name={folded ? "right" : "down"} /><Icon name={icon} /><b>{title}</b><span class="hidden">{word}</span><span class="small">{several(to - from, "line")}</span>
    </button>
  );
}
