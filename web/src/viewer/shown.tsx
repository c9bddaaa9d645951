// The viewer on the screen: what can be done on top, waves, panels on the side, the table below.
import { effect, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { duration, span, whole, zoom } from "../model/axis.ts";
import { setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { copy } from "../ui/copy.tsx";
import { Head } from "../ui/head.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { count, several } from "../ui/time.ts";
import { AnnotationTable } from "./annotation-table.tsx";
import { ComparePanel } from "./compare-panel.tsx";
import { DecoderPanel } from "./decoder-panel.tsx";
import { ExportSheet } from "./export-sheet.tsx";
import { FindPanel } from "./find-panel.tsx";
import { GapPanel } from "./gap-panel.tsx";
import { Keys } from "./keys.tsx";
import { MarkerPanel, MarkerSheet } from "./marker-panel.tsx";
import { Measurements } from "./measurements.tsx";
import { Minimap } from "./minimap.tsx";
import { Names } from "./names.tsx";
import { Plot } from "./plot.tsx";
import { RulesPanel } from "./rules-panel.tsx";
import { addressOf } from "./address.ts";
import type { Viewer } from "./viewer.ts";

/** The address follows what is seen after so long. */
const ADDRESS_MS = 250;

/** `actions`, `note` and `panels` are what a page knows beyond the samples. */
export function Shown({ viewer, title, note, actions, panels, keepsAddress }: { viewer: Viewer; title: string; note: ComponentChildren; actions?: ComponentChildren; panels?: ComponentChildren; keepsAddress: boolean }) {
  const { source, lookups } = viewer;
  const [panel, turn] = useState<"table" | "measure">("table");
  const exporting = useSignal(false);
  const marking = useSignal<number | undefined>(undefined);
  const isStored = lookups !== undefined;
  const mark = isStored ? (sample: number): void => void (marking.value = sample) : undefined;

  useEffect(() => {
    if (!keepsAddress) return;
    let timer = 0;
    const stop = effect(() => {
      const members = addressOf(viewer);
      clearTimeout(timer);
      timer = setTimeout(() => setQuery(members), ADDRESS_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [viewer]);

  const step = (factor: number): void => viewer.look(zoom(viewer.view.peek(), 0.5, factor));
  return (
    <main class="viewer">
      <Head title={title} note={<>{note}<span>{count(source.samples)} samples</span><span>{count(source.rate / 1e6)} MHz</span><span>{duration(source.samples / source.rate)}</span>{viewer.edition.value >= 0 && viewer.gaps.length > 0 && <Badge tone="warn" title="A slow link lost samples; they are hatched">{several(viewer.gaps.length, "gap")}</Badge>}</>}>
        <div class="group" role="group" aria-label="Zoom">
          <Button icon="minus" label="Zoom out" hidden onClick={() => step(2)} />
          <span class="zoom" aria-live="off">{duration(span(viewer.view.value) / source.rate)}</span>
          <Button icon="plus" label="Zoom in" hidden onClick={() => step(0.5)} />
          <Button icon="fit" label="Show all" hidden onClick={() => viewer.look(whole(source.samples))} />
        </div>
        {keepsAddress && <Button icon="link" label="Copy link" onClick={() => {
          setQuery(addressOf(viewer));
          void copy("Link", location.href);
        }} />}
        {isStored && <Button icon="save" label="Export" onClick={() => (exporting.value = true)} />}
        {actions}
      </Head>
      <div class="stage">
        <div class="minimap-row"><span class="small">Overview</span><Minimap viewer={viewer} /></div>
        <div class="waves"><Names viewer={viewer} /><Plot viewer={viewer} onMarker={mark} /></div>
      </div>
      <div class="narrow-tabs">
        <Tabs label="Below the waves" tabs={[{ id: "table", name: "Annotations" }, { id: "measure", name: "Measure, decode, judge" }]} current={panel} onChoose={turn} />
      </div>
      <aside class={panel === "measure" ? "side" : "side away"} aria-label="Measuring and decoding">
        <Measurements viewer={viewer} />
        <GapPanel viewer={viewer} />
        {(isStored || viewer.liveOf !== undefined) && <DecoderPanel viewer={viewer} />}
        {lookups && <FindPanel viewer={viewer} lookups={lookups} />}
        {isStored && <MarkerPanel viewer={viewer} onAdd={() => (marking.value = Math.round(viewer.cursors.value.a ?? (viewer.view.value.from + viewer.view.value.to) / 2))} />}
        {isStored && <RulesPanel viewer={viewer} />}
        {isStored && <ComparePanel viewer={viewer} />}
        {panels}
        <Keys />
      </aside>
      <div class={panel === "table" ? "below" : "below away"}><AnnotationTable viewer={viewer} /></div>
      {exporting.value && <ExportSheet viewer={viewer} onClose={() => (exporting.value = false)} />}
      {marking.value !== undefined && <MarkerSheet viewer={viewer} sample={marking.value} onClose={() => (marking.value = undefined)} />}
    </main>
  );
}
