// Waveforms: the list beside the one that is looked at.
import { call } from "../api/client.ts";
import { usePages } from "../api/pages.ts";
import type { WaveformsWaveform } from "../api/schema.ts";
import { duration } from "../model/axis.ts";
import { query, setQuery } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { Head } from "../ui/head.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { More } from "../ui/table.tsx";
import { WaveformMake } from "./waveform-make.tsx";
import { WaveformShown } from "./waveform-shown.tsx";

export const KINDS: Readonly<Record<WaveformsWaveform["kind"], string>> = { recording: "Recording", segments: "Ramps and steps", dac_waveform: "Codes" };

export const lengthOf = ({ sample_count, sample_rate_hz }: WaveformsWaveform): string => (sample_rate_hz > 0 ? duration(sample_count / sample_rate_hz) : `${sample_count} samples`);

export default function WaveformsPage({ id }: { id?: string }) {
  const waveforms = usePages("waveforms", async (cursor, signal) => {
    const { waveforms: rows, next_cursor: next } = await call("GET /bench/waveforms", { query: cursor ? { cursor } : {} }, signal);
    return { rows, next };
  }, 5000);
  const all = waveforms.rows;
  const chosen = id === undefined ? all[0] : all.find((one) => one.id === id);
  return (
    <main class="page waveforms">
      <Head title="Waveforms">
        <Filter label="Filter waveforms" />
        <Button icon="plus" label="Make one" kind="main" onClick={() => setQuery({ sheet: "make" })} />
      </Head>
      <Loaded resource={waveforms.first} rows={5}>
        {() => all.length === 0 ? (
          <Empty icon="waveform" title="No waveforms yet"><p>Make one of ramps and steps, of a file with levels, or of an analog lane of a capture. It can be played on an output of a pod.</p></Empty>
        ) : (
          <div class="beside">
            <nav aria-label="All waveforms" class="items">
              {all.filter(({ name, kind }) => passes(`${name} ${KINDS[kind]}`)).map((one) => (
                <a key={one.id} href={`/waveforms/${one.id}`} aria-current={one.id === chosen?.id ? "page" : undefined}><b>{one.name}</b><span class="small">{KINDS[one.kind]}, {lengthOf(one)}</span></a>
              ))}
              <More pages={waveforms} />
            </nav>
            {chosen ? <WaveformShown key={chosen.id} waveform={chosen} /> : <Empty icon="waveform" title="No such waveform"><p>It was deleted, or is further down in the list.</p></Empty>}
          </div>
        )}
      </Loaded>
      {query.value.get("sheet") === "make" && <WaveformMake onClose={() => setQuery({ sheet: undefined })} />}
    </main>
  );
}
