// Markers with notes, which are kept on the capture for everybody who looks at it.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { instant } from "../model/axis.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { Trouble } from "../ui/states.tsx";
import type { Marker, Viewer } from "./viewer.ts";

/** What the server keeps of a capture. */
const MARKERS_MAX = 100;
const NOTE_MAX = 200;

/** Changes the markers on the server, then here: what is shown is what is kept. */
async function keep(viewer: Viewer, markers: readonly Marker[]): Promise<void> {
  const { markers: kept } = await call("PATCH /capture/{id}", { path: { id: viewer.capture }, body: { markers } });
  viewer.markers.value = kept ?? markers;
}

export function MarkerPanel({ viewer, onAdd }: { viewer: Viewer; onAdd: () => void }) {
  const removing = useAction((marker: Marker) => keep(viewer, viewer.markers.peek().filter((one) => one !== marker)));
  const sorted = [...viewer.markers.value].sort((a, b) => a.sample - b.sample);
  return (
    <section class="panel" aria-label="Markers">
      <h2>Markers <Button icon="flag" label="Add marker" hidden disabled={sorted.length >= MARKERS_MAX} onClick={onAdd} /></h2>
      {sorted.length === 0 && <p class="small">None yet. M sets one at the pointer.</p>}
      <Trouble failure={removing.failure.value} />
      <ol class="places">
        {sorted.map((marker, i) => (
          <li key={i}>
            <button type="button" onClick={() => viewer.goToInstant(marker.sample)}><span class="number">{instant(viewer.seconds(marker.sample), 1 / viewer.source.rate)}</span> {marker.note}</button>
            <button type="button" class="quiet" aria-label={`Remove the marker ${marker.note}`} disabled={removing.busy.value} onClick={() => void removing.run(marker)}><Icon name="cross" /></button>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function MarkerSheet({ viewer, sample, onClose }: { viewer: Viewer; sample: number; onClose: () => void }) {
  const note = useSignal("");
  const adding = useAction(() => keep(viewer, [...viewer.markers.peek(), { sample, note: note.peek().trim() }]));
  return (
    <FormSheet title={`Marker at ${instant(viewer.seconds(sample), 1 / viewer.source.rate)}`} submit="Add" action={adding} disabled={note.value.trim() === ""} onClose={onClose}>
      <Field label="Note" of={note} maxLength={NOTE_MAX} first required />
    </FormSheet>
  );
}
