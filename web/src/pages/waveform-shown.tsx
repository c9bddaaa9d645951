// One waveform on an output: what would be played, where it is cut, and the way to play it.
import { useEffect, useState } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { call, url } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { WaveformsPreview, WaveformsWaveform } from "../api/schema.ts";
import { OUTPUTS, type Output, PreviewSource, isOutput, summary } from "../model/waveform.ts";
import { navigate, query, setQuery } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmByName } from "../ui/confirm.tsx";
import { Choice } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/states.tsx";
import { count } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";
import { Names } from "../viewer/names.tsx";
import { Plot } from "../viewer/plot.tsx";
import { Viewer } from "../viewer/viewer.ts";
import { WaveformPlay } from "./waveform-play.tsx";
import { KINDS, lengthOf } from "./waveforms.tsx";

/** The most codes of a preview: enough for the plot to be zoomed. */
const POINTS = 16_384;

const MAPPINGS = [{ value: "faithful", name: "As they are" }, { value: "fit", name: "Stretched over the output" }] as const;

export function WaveformShown({ waveform }: { waveform: WaveformsWaveform }) {
  const given = query.value.get("output");
  const output: Output = isOutput(given) ? given : waveform.dac_path || (waveform.unit === "mA" ? "current_out" : "3v3");
  const mapping = query.value.get("levels") === "fit" ? "fit" : "faithful";
  const preview = useGet(`preview ${waveform.id} ${output} ${mapping}`, "GET /bench/waveforms/{id}/preview", { path: { id: waveform.id }, query: { dac_path: output, mapping, points: POINTS } });
  const [playing, removing] = [useSignal(false), useSignal(false)];
  return (
    <section class="stack" aria-labelledby="waveform">
      <div class="section-head">
        <h2 id="waveform">{waveform.name}</h2><span class="quiet">{KINDS[waveform.kind]}, {lengthOf(waveform)}, {count(waveform.sample_count)} samples, <Ago iso={waveform.created_at} /></span>
        <div class="actions">
          {waveform.kind === "recording" && <a class="button" href={url("GET /bench/waveforms/{id}/recording", { id: waveform.id })} download={`${waveform.name}.u16`}><Icon name="save" />Download</a>}
          <Button icon="trash" label="Delete" hidden onClick={() => (removing.value = true)} />
          <Button icon="play" label="Play" kind="main" onClick={() => (playing.value = true)} />
        </div>
      </div>
      <div class="columns">
        <Choice label="Output" value={output} options={Object.entries(OUTPUTS).map(([value, { name }]) => ({ value, name }))} onChange={(text) => setQuery({ output: text })} />
        <Choice label="Levels" value={mapping} options={MAPPINGS} onChange={(text) => setQuery({ levels: text === "fit" ? "fit" : undefined })} />
      </div>
      <Loaded resource={preview} rows={4}>{(known) => <PreviewPlot key={`${known.dac_path} ${known.mapping}`} preview={known} />}</Loaded>
      {playing.value && <WaveformPlay waveform={waveform} output={output} mapping={mapping} onClose={() => (playing.value = false)} />}
      {removing.value && (
        <ConfirmByName title={`Delete ${waveform.name}`} name={waveform.name} onClose={() => (removing.value = false)} onConfirm={async () => {
          await call("DELETE /bench/waveforms/{id}", { path: { id: waveform.id } });
          refresh("waveforms");
          // What is shown of it stays as it is until the list is without it: nothing of it can be read any more.
          navigate(`/waveforms${location.search}`);
        }}>
          <p>Jobs and programs that play it by its id fail from now on. An output that plays it goes on.</p>
        </ConfirmByName>
      )}
    </section>
  );
}

function PreviewPlot({ preview }: { preview: WaveformsPreview }) {
  const [viewer, open] = useState<Viewer | undefined>();
  useEffect(() => {
    const made = new Viewer(preview.id, new PreviewSource(preview));
    open(made);
    return () => made.close();
  }, [preview]);
  if (!viewer) return null;
  const { min, max, cut } = summary((viewer.source as PreviewSource).levels, preview);
  return (
    <>
      <div class="stage preview"><div class="waves"><Names viewer={viewer} /><Plot viewer={viewer} /></div></div>
      <dl class="values limits">
        <dt>Lowest and highest level</dt><dd>{min.toFixed(3)} to {max.toFixed(3)} {preview.unit}</dd>
        <dt>The output reaches</dt><dd>{preview.low.toFixed(2)} to {preview.high.toFixed(2)} {preview.unit}</dd>
        <dt>At the ends of its range</dt><dd>{cut === 0 ? "never" : `${(cut * 100).toFixed(1)} % of the time`}</dd>
        {preview.averaged > 1 && <><dt>Drawn from</dt><dd>the mean of each {preview.averaged} samples</dd></>}
      </dl>
    </>
  );
}
