// What stands before the waves: decoders and lanes by their names, and the values under the pointer.
import { useComputed } from "@preact/signals";
import { instant, ticks, trimmed } from "../model/axis.ts";
import { gapAt } from "../model/gaps.ts";
import { HIGH, LOW, tileSpan } from "../model/tiles.ts";
import type { Viewer } from "./viewer.ts";

export function Names({ viewer }: { viewer: Viewer }) {
  const { zero } = viewer;
  const view = viewer.view.value;
  const { base } = ticks({ ...view, from: view.from - zero, to: view.to - zero }, viewer.source.rate, viewer.columns / devicePixelRatio);
  return (
    <div class="names">
      <div class="ruler-head">{base !== 0 ? trimmed(instant(base, 1e-9)) : ""}</div>
      {viewer.rows.value.map((row) => <div key={row} class="name decoder" title={row.name}><b>{row.name}</b></div>)}
      {viewer.source.lanes.map((lane, i) => (
        <button key={i} type="button" class={`name lane c${i % 8} ${lane.kind}`} title={lane.note} style={{ height: `${viewer.laneHeight(lane.kind)}px` }} aria-pressed={viewer.selected.value === i} onClick={() => (viewer.selected.value = i)}>
          <b>{lane.name}</b>
          <Reading viewer={viewer} lane={i} />
        </button>
      ))}
    </div>
  );
}

/** The value of a lane under the pointer. */
function Reading({ viewer, lane }: { viewer: Viewer; lane: number }) {
  const text = useComputed(() => {
    const sample = viewer.hover.value?.sample;
    if (sample === undefined) return "";
    if (viewer.source.lanes[lane]?.kind === "digital" && gapAt(viewer.gaps, Math.floor(sample))) return "?";
    for (const { tile, first, last } of viewer.pieces()) {
      const at = Math.floor((sample - tile.index * tileSpan(tile.level)) / 2 ** tile.level);
      const part = tile.parts[lane];
      if (at < first || at >= last || !part) continue;
      if (part.kind === "analog") return `${((part.min[at]! + part.max[at]!) / 2).toPrecision(3)} ${viewer.source.lanes[lane]!.unit}`;
      return part.levels[at] === HIGH ? "1" : part.levels[at] === LOW ? "0" : "↕";
    }
    return "";
  });
  return <span class="reading">{text}</span>;
}
