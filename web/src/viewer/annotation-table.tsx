// What decoders say, as a table in step with the view.
import { effect, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { duration, instant } from "../model/axis.ts";
import { Check } from "../ui/field.tsx";
import { Rows, type RowsHandle } from "../ui/rows.tsx";
import { Search } from "../ui/search.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { count } from "../ui/time.ts";
import { Conversation, canTalk } from "./conversation.tsx";
import { RegisterTable, hasRegisters } from "./register-table.tsx";
import type { Viewer } from "./viewer.ts";

/** The view may move so long before the table follows. */
const FOLLOW_MS = 80;

/** The annotations in words, in step with the view: the text alternative of the canvas, too. */
export function AnnotationTable({ viewer }: { viewer: Viewer }) {
  const [chosen, needle, inStep, asBytes] = [useSignal<string | undefined>(undefined), useSignal(""), useSignal(true), useSignal(false)];
  const handle = useRef<RowsHandle>(null);
  const rows = viewer.rows.value;
  const talking = viewer.decoders.value.filter((one) => canTalk(one) || hasRegisters(one));
  const talk = talking.find(({ key }) => key === chosen.value);
  // What decoders say comes before what is known besides.
  const at = useComputed(() => {
    const all = viewer.rows.value;
    const first = all.findIndex((row) => !viewer.aside.value.includes(row));
    return Math.min(Number(chosen.value ?? Math.max(0, first)) || 0, all.length - 1);
  });
  // Computed, so that moving the view draws this again only where other annotations are seen.
  const seen = useComputed(() => (viewer.edition.value, viewer.rows.value[at.value]?.seen(viewer.view.value)));
  const said = seen.value;
  const edition = viewer.edition.value;
  const found = useMemo(() => (said && needle.value ? said.search(needle.value) : undefined), [said, needle.value, said?.length]);
  const rate = viewer.source.rate;

  useEffect(() => {
    if (!inStep.value || !said || talk) return;
    let timer = 0;
    const stop = effect(() => {
      const { from } = viewer.view.value;
      const isAtEnd = viewer.isAtEnd.value;
      clearTimeout(timer);
      timer = setTimeout(() => {
        // Of a capture that arrives the newest is seen.
        if (isAtEnd) return void handle.current?.show((found ?? said).length - 1);
        const first = said.firstBehind(from);
        handle.current?.show(found ? Math.max(0, found.findIndex((index) => index >= first)) : first, "top");
      }, FOLLOW_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [viewer, said, inStep.value, found, talk]);

  if (!said) return <section class="annotations empty-table" aria-label="Annotations"><p class="small">Add a decoder to see here what was on the wire.</p></section>;
  const indexOf = (row: number): number => (found ? found[row]! : row);
  const open = (row: number): void => viewer.lookAt(said.start(indexOf(row)), said.end(indexOf(row)));
  return (
    <section class="annotations" aria-label="Annotations">
      <div class="bar">
        <Tabs label="Decoders" current={talk ? talk.key : `${at.value}`} onChoose={(id) => (chosen.value = id)} tabs={[
          ...rows.map(({ name, annotations }, i) => ({ id: `${i}`, name, note: count(annotations.length) })),
          ...talking.map((one) => ({ id: one.key, name: hasRegisters(one) ? "What registers hold" : "Conversation" })),
        ]} />
        <Search label="Search annotations" value={needle.value} onInput={(text) => (needle.value = text)} note={found && !talk && `${count(found.length)} found`} />
        {talk && canTalk(talk) && <Check label="Bytes" of={asBytes} />}
        <Check label="Follow the view" of={inStep} />
      </div>
      {talk && hasRegisters(talk) ? <RegisterTable viewer={viewer} decoder={talk} needle={needle.value} edition={edition} /> : talk ? <Conversation viewer={viewer} decoder={talk} needle={needle.value} asBytes={asBytes.value} inStep={inStep.value} edition={edition} /> : <>
      <div class="line header" aria-hidden="true"><span>Time</span><span>Duration</span><span>Kind</span><span>Text</span></div>
      <Rows count={found ? found.length : said.length} rowHeight={24} label="Annotations" role="grid" handle={handle} edition={edition} onOpen={open} render={(row, id, isChosen) => {
        const index = indexOf(row);
        const { kind, text } = said.said(index);
        const [start, end] = [said.start(index), said.end(index)];
        return (
          <div key={index} id={id} role="row" aria-rowindex={row + 1} aria-selected={isChosen} class={isChosen ? "line chosen" : "line"} onClick={() => open(row)}>
            <span role="gridcell">{instant(viewer.seconds(start), 1 / rate)}</span>
            <span role="gridcell">{end > start ? duration((end - start) / rate) : ""}</span>
            <span role="gridcell" class={`kind k-${kind.split("-")[0]}`}>{kind}</span>
            <span role="gridcell">{text}</span>
          </div>
        );
      }} /></>}
    </section>
  );
}
