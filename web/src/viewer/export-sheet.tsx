// A file of the capture for another tool: all of it, what is seen, or what lies between the cursors.
import { useSignal } from "@preact/signals";
import { url } from "../api/client.ts";
import { duration } from "../model/axis.ts";
import { Check, Choice } from "../ui/field.tsx";
import { Sheet } from "../ui/sheet.tsx";
import type { Viewer } from "./viewer.ts";

const FORMATS = [
  { value: "sr", name: "sigrok session (.sr)" },
  { value: "vcd", name: "Value change dump (.vcd)" },
  { value: "fst", name: "Fast signal trace for GTKWave and Surfer (.fst)" },
  { value: "csv", name: "Comma-separated values (.csv)" },
  { value: "wav", name: "Analog samples as sound (.wav)" },
  { value: "bin", name: "Bare samples (.bin)" },
] as const;

export function ExportSheet({ viewer, onClose }: { viewer: Viewer; onClose: () => void }) {
  const format = useSignal<string>("sr");
  const range = useSignal("all");
  const left = useSignal<ReadonlySet<number>>(new Set());
  const { from, to, samples } = viewer.view.value;
  const { a, b } = viewer.cursors.value;
  const ranges: Record<string, readonly [from: number, to: number] | undefined> = {
    all: [0, samples],
    seen: [Math.floor(from), Math.ceil(to)],
    cursors: a !== undefined && b !== undefined && a !== b ? [Math.min(a, b), Math.max(a, b)] : undefined,
  };
  const [first, behind] = ranges[range.value] ?? [0, samples];
  const { lanes } = viewer.source;
  const chosen = lanes.filter((_, i) => !left.value.has(i)).map(({ name, note }) => note ?? name);
  const turn = (lane: number): void => {
    const next = new Set(left.value);
    if (!next.delete(lane)) next.add(lane);
    left.value = next;
  };
  const query = { format: format.value, channels: left.value.size > 0 ? chosen.join(",") : undefined, from: first || undefined, to: behind < samples ? behind : undefined };
  const long = (one: readonly [number, number] | undefined): string => (one ? `, ${duration((one[1] - one[0]) / viewer.source.rate)}` : "");
  return (
    <Sheet title="Export" onClose={onClose}>
      <div class="stack">
        <Choice label="Format" of={format} options={FORMATS} />
        <Choice label="Range" of={range} options={[
          { value: "all", name: `The whole capture${long(ranges["all"])}` },
          { value: "seen", name: `What is seen${long(ranges["seen"])}` },
          { value: "cursors", name: `Between the cursors${long(ranges["cursors"])}`, disabled: !ranges["cursors"] },
        ]} />
        {lanes.length > 1 && (
          <fieldset class="lanes">
            <legend>Channels <span class="small">{left.value.size === 0 ? "all of them" : `${chosen.length} of ${lanes.length}`}</span></legend>
            {lanes.map(({ name }, i) => <Check key={i} label={name} on={!left.value.has(i)} onChange={() => turn(i)} />)}
          </fieldset>
        )}
        <div class="sheet-end">{chosen.length > 0 ? <a class="button main" href={url("GET /capture/{id}/export", { id: viewer.capture }, query)} download onClick={onClose}>Download</a> : <p class="fault">Choose a channel.</p>}</div>
      </div>
    </Sheet>
  );
}
