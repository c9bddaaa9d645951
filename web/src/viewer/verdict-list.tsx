// What the server said of each rule. A rule leads to its places, one after the other.
import { useSignal } from "@preact/signals";
import { Icon, type IconName } from "../ui/icon.tsx";
import { count } from "../ui/time.ts";
import { type Verdict, type Verdicts, stretchOf } from "./judging.ts";
import type { Viewer } from "./viewer.ts";

const WORDS: Readonly<Record<Verdict["verdict"], { readonly icon: IconName; readonly tone: string; readonly word: string }>> = {
  passed: { icon: "check", tone: "ok", word: "holds" },
  failed: { icon: "cross", tone: "bad", word: "fails" },
  error: { icon: "warning", tone: "warn", word: "cannot be judged" },
};

/** `2 hold, 1 fails`. */
export function summary({ passed, failed, errors }: Verdicts): string {
  const parts = [
    passed > 0 ? `${count(passed)} ${passed === 1 ? "holds" : "hold"}` : "",
    failed > 0 ? `${count(failed)} ${failed === 1 ? "fails" : "fail"}` : "",
    errors > 0 ? `${count(errors)} cannot be judged` : "",
  ].filter(Boolean);
  return parts.join(", ") || "There are no rules.";
}

export const VerdictList = ({ viewer, verdicts }: { viewer: Viewer; verdicts: Verdicts }) => (
  <ol class="verdicts">
    {[...verdicts.rules].sort((a, b) => rank(a) - rank(b)).map((rule) => <One key={rule.name} viewer={viewer} rule={rule} />)}
  </ol>
);

const rank = ({ verdict }: Verdict): number => ["failed", "error", "passed"].indexOf(verdict);

function One({ viewer, rule }: { viewer: Viewer; rule: Verdict }) {
  const at = useSignal(-1);
  const { icon, tone, word } = WORDS[rule.verdict];
  const places = rule.places.length > 0 ? rule.places : rule.place ? [rule.place] : [];
  const show = (): void => {
    at.value = (at.peek() + 1) % places.length;
    const { from, to } = stretchOf(viewer, places[at.peek()]!);
    const lane = viewer.laneOf(places[at.peek()]!.channel);
    if (lane !== undefined) viewer.selected.value = lane;
    viewer.lookAt(from, to);
  };
  const shown = places.length > 1 && at.value >= 0 ? `Place ${at.value + 1} of ${count(places.length)}${rule.found > places.length ? ` (${count(rule.found)} in all)` : ""}` : undefined;
  return (
    <li class={tone}>
      <button type="button" disabled={places.length === 0} title={`Wanted: ${rule.wanted}`} onClick={show}>
        <Icon name={icon} /><span class="hidden">{word}: </span>
        <span><b>{rule.name}</b><span class="small">{rule.seen}</span>{rule.verdict === "failed" && rule.kind !== "golden" && <span class="small">Wanted: {rule.wanted}</span>}{shown && <span class="small" role="status">{shown}</span>}</span>
      </button>
    </li>
  );
}
