// A good capture laid over this one, and the first edges that differ, as the server judges them.
import { useSignal } from "@preact/signals";
import { useAsked } from "../api/asked.ts";
import { useGet } from "../api/resource.ts";
import { Button } from "../ui/button.tsx";
import { Choice, Field } from "../ui/field.tsx";
import { Trouble } from "../ui/states.tsx";
import { readGolden } from "./golden.ts";
import { type Verdicts, judge } from "./judging.ts";
import { VerdictList } from "./verdict-list.tsx";
import type { Viewer } from "./viewer.ts";

export function ComparePanel({ viewer }: { viewer: Viewer }) {
  const id = viewer.compareWith.value;
  const [open, within] = [useSignal(false), useSignal("")];
  const { value: golden } = viewer.golden;
  const { data: verdicts, failure, again } = useAsked((signal) => {
    viewer.judge("golden", []);
    if (viewer.golden.peek()?.id !== id) viewer.compare(undefined);
    if (id === "") return undefined;
    const work = async (): Promise<Verdicts> => {
      if (viewer.golden.peek()?.id !== id) {
        const made = await readGolden(id, viewer);
        if (signal.aborted) made.close();
        else viewer.compare(made);
      }
      const time = within.value.trim() === "" ? {} : { time: within.value.trim() };
      return judge(viewer, "golden", { rules: { version: 1, rules: [{ name: "as in the good capture", golden: { capture: id, ...time } }] } }, signal);
    };
    return work();
  }, [viewer, id, within.value]);
  return (
    <section class="panel" aria-label="Compare">
      <h2>Compare {id ? <Button icon="cross" label="Stop comparing" hidden onClick={() => (viewer.compareWith.value = "")} /> : <Button icon="layers" label="Compare with a good capture" hidden expanded={open.value} onClick={() => (open.value = !open.value)} />}</h2>
      {!id && !open.value && <p class="small">Lay a good capture over this one, and see where they differ.</p>}
      {!id && open.value && <Pick viewer={viewer} />}
      {id && <p class="small">{golden ? <>The line in the middle of each lane is <a href={`/captures/${golden.id}`}>{golden.name}</a>. Red: they differ.</> : failure ? null : "Reading it…"}</p>}
      <Trouble failure={failure} again={again} />
      {verdicts && <VerdictList viewer={viewer} verdicts={verdicts} />}
      {id && golden && <Field label="Edges may be off by" of={within} placeholder="1us" />}
    </section>
  );
}

/** Captures with a lane in common, the newest first. */
function Pick({ viewer }: { viewer: Viewer }) {
  const captures = useGet("captures to compare with", "GET /captures", { query: { limit: 100 } });
  const list = captures.data.value?.captures;
  if (!list) return captures.failure.value ? <Trouble failure={captures.failure.value} again={() => void captures.reload()} /> : <p class="small">Reading what captures there are…</p>;
  const fits = list.filter(({ id, status, channels }) => id !== viewer.capture && status === "done" && channels.some(({ name }) => viewer.laneOf(name) !== undefined));
  if (fits.length === 0) return <p class="small">No other capture has a channel of this one.</p>;
  return <Choice label="Good capture" value="" onChange={(id) => (viewer.compareWith.value = id)} options={[{ value: "", name: "Choose" }, ...fits.map(({ id, name, kind, created_at }) => ({ value: id, name: `${(name || kind).replace(/^[0-9A-Z]{26} /, "")}, ${new Date(created_at).toLocaleString()}` }))]} />;
}
