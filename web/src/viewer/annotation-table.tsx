// What decoders say, as a table in step with the view.
import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration, instant } from "../model/axis.ts";
import { Rows, type RowsHandle } from "../ui/rows.tsx";
import { Search } from "../ui/search.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { count } from "../ui/time.ts";
import type { Viewer } from "./viewer.ts";

/** The annotations in words, in step with the view: the text alternative of the canvas, too. */
export function AnnotationTable({ viewer }: { viewer: Viewer }) {
  const [chosen, choose] = useState(0);
  const [needle, search] = useState("");
  const [inStep, keepStep] = useState(true);
  const handle = useRef<RowsHandle>(null);
  const rowsNow = viewer.rows.value;
  const row = rowsNow[Math.min(chosen, rowsNow.length - 1)];
  const edition = viewer.edition.value;
  const found = useMemo(() => (row && needle ? row.annotations.search(needle) : undefined), [row, needle, row?.annotations.length]);
  const rows = found ? found.length : (row?.annotations.length ?? 0);
  const rate = viewer.source.rate;

  useEffect(() => {
    if (!inStep || !row) return;
    let timer = 0;
    const stop = effect(() => {
      const { from } = viewer.view.value;
      clearTimeout(timer);
      timer = setTimeout(() => {
        const first = row.annotations.firstBehind(from);
        handle.current?.show(found ? Math.max(0, found.findIndex((index) => index >= first)) : first, "top");
      }, 80);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [viewer, row, inStep, found]);

  if (!row) return <section class="annotations empty-table" aria-label="Annotations"><p class="small">Add a decoder to see here what was on the wire.</p></section>;
  return (
    <section class="annotations" aria-label="Annotations">
      <div class="bar">
        <Tabs label="Decoders" tabs={rowsNow.map(({ name, annotations }, i) => ({ id: `${i}`, name, note: count(annotations.length)}))} current={`${rowsNow.indexOf(row)}`} onChoose={(i) => choose(Number(i))} />
        <Search label="Search annotations" value={needle} onInput={search} note={found && `${count(found.length)} found`} />
        <label class="check"><input type="checkbox" checked={inStep} onChange={() => keepStep(!inStep)} /> Follow the view</label>
      </div>
      <div class="line header" aria-hidden="true"><span>Time</span><span>Duration</span><span>Kind</span><span>Text</span></div>
      <Rows count={rows} rowHeight={24} label="Annotations" role="table" handle={handle} edition={edition} render={(i) => {
        const index = found ? found[i]! : i;
        const { kind, text } = row.annotations.said(index);
        const [start, end] = [row.annotations.start(index), row.annotations.end(index)];
        return (
          <div key={index} role="row" aria-rowindex={i + 1} class="line" onClick={() => viewer.lookAt(start, end)}>
            <span role="cell">{instant(viewer.seconds(start), 1 / rate)}</span>
            <span role="cell">{end > start ? duration((end - start) / rate) : ""}</span>
            <span role="cell" class={`kind k-${kind.split("-")[0]}`}>{kind}</span>
            <span role="cell">{text}</span>
          </div>
        );
      }} />
    </section>
  );
}
