// What of a capture a slow link lost: a list that leads there.
import { duration, instant } from "../model/axis.ts";
import { count, several } from "../ui/time.ts";
import type { Viewer } from "./viewer.ts";

/** So many are listed; all are drawn. */
const LISTED_MAX = 100;

export function GapPanel({ viewer }: { viewer: Viewer }) {
  const { gaps, source: { rate, samples } } = viewer;
  if (viewer.edition.value < 0 || gaps.length === 0) return null;
  const lost = gaps.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <section class="panel" aria-label="Lost samples">
      <h2>Lost samples</h2>
      <p class="small">The link to the device was too slow: {count(lost)} samples are missing in {several(gaps.length, "gap")}, {((lost / samples) * 100).toPrecision(2)} % of the capture. All other times are true. A lower rate or fewer lanes need less of the link.</p>
      <ol class="places">
        {gaps.slice(0, LISTED_MAX).map((gap) => (
          <li key={gap.from}><button type="button" onClick={() => viewer.lookAt(gap.from, gap.to)}><span class="number">{instant(viewer.seconds(gap.from), 1 / rate)}</span> {duration((gap.to - gap.from) / rate)} lost</button></li>
        ))}
      </ol>
      {gaps.length > LISTED_MAX && <p class="small">The first {LISTED_MAX} are listed.</p>}
    </section>
  );
}
