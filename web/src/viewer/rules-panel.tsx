// Rules that the capture is judged by: written or pasted here, judged by the server, failing places shown in the waves.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { useAsked } from "../api/asked.ts";
import { exampleRules, fileOf } from "../model/rules.ts";
import { Button } from "../ui/button.tsx";
import { Text } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { Trouble } from "../ui/states.tsx";
import { judge } from "./judging.ts";
import { VerdictList, summary } from "./verdict-list.tsx";
import type { Viewer } from "./viewer.ts";

/** The last rules are offered for the next capture. */
const KEPT = "hostd-rules";

export function RulesPanel({ viewer }: { viewer: Viewer }) {
  const editing = useSignal(false);
  const text = viewer.rules.value;
  const { data: verdicts, failure, again } = useAsked((signal) => {
    viewer.judge("rules", []);
    return text === "" ? undefined : judge(viewer, "rules", { rules_yaml: fileOf(text) }, signal);
  }, [viewer, text]);
  return (
    <section class="panel" aria-label="Rules">
      <h2>Rules <span class="group">{text !== "" && <Button icon="cross" label="Remove the rules" hidden onClick={() => (viewer.rules.value = "")} />}<Button icon="edit" label={text === "" ? "Write rules" : "Change the rules"} hidden onClick={() => (editing.value = true)} /></span></h2>
      {text === "" && <p class="small">Say what this capture must show, and see where it does not.</p>}
      <Trouble failure={failure} again={again} />
      {text !== "" && !verdicts && !failure && <p class="small" role="status">Judging…</p>}
      {verdicts && <><p class="small" role="status">{summary(verdicts)}</p><VerdictList viewer={viewer} verdicts={verdicts} /></>}
      {editing.value && <RulesSheet viewer={viewer} onClose={() => (editing.value = false)} />}
    </section>
  );
}

function RulesSheet({ viewer, onClose }: { viewer: Viewer; onClose: () => void }) {
  const { lanes } = viewer.source;
  const names = (kind: "digital" | "analog"): readonly string[] => lanes.filter((lane) => lane.kind === kind).map(({ name }) => name);
  const text = useSignal(viewer.rules.peek() || localStorage.getItem(KEPT) || exampleRules(names("digital"), names("analog")));
  const judging = useAction(async () => {
    await judge(viewer, "rules", { rules_yaml: fileOf(text.peek()) }, new AbortController().signal);
    localStorage.setItem(KEPT, text.peek());
    viewer.rules.value = text.peek();
  });
  return (
    <FormSheet title="Rules" submit="Judge" action={judging} onClose={onClose}>
      <Text label="Rules, as YAML or JSON" mono rows={14} of={text} hint={`Channels: ${lanes.map(({ name }) => name).join(", ")}. Times count from ${viewer.trigger.value !== undefined ? "the trigger" : "the first sample"}.`} />
      <details>
        <summary>What rules look like</summary>
        <pre class="small">{EXAMPLES}</pre>
      </details>
    </FormSheet>
  );
}

const EXAMPLES = `channels: { clk: LA1, rst: LA2 }
${exampleRules(["clk", "rst"], [])}  - name: clock runs at 1 MHz
    frequency: { channel: clk, value: 1MHz, tolerance: 1% }
    from: 1ms
  - name: sensor answers
    i2c: { scl: LA1, sda: LA2, address: 0x76, answered: true }
  - name: no error frame
    bytes: { decoder: uart, channels: { rx: LA3 }, bytes: "DE AD", max: 0 }`;
