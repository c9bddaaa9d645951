// Rules that the capture is judged by: written or pasted here, judged by the server, failing places shown in the waves.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Failure, failureOf } from "../api/client.ts";
import { type Fault, exampleRules, faultsOf, readRules } from "../model/rules.ts";
import { Button } from "../ui/button.tsx";
import { Text } from "../ui/field.tsx";
import { Sheet } from "../ui/sheet.tsx";
import { Faults } from "../ui/faults.tsx";
import { Trouble } from "../ui/states.tsx";
import { type Verdicts, judge } from "./judging.ts";
import { VerdictList, summary } from "./verdict-list.tsx";
import type { Viewer } from "./viewer.ts";

/** The last rules are offered for the next capture. */
const KEPT = "hostd-rules";

export function RulesPanel({ viewer }: { viewer: Viewer }) {
  const editing = useSignal(false);
  const verdicts = useSignal<Verdicts | undefined>(undefined);
  const failure = useSignal<Failure | undefined>(undefined);
  const attempt = useSignal(0);
  const text = viewer.rules.value;
  useEffect(() => {
    verdicts.value = undefined;
    failure.value = undefined;
    viewer.judge("rules", []);
    const { body } = readRules(text);
    if (text === "" || !body) return;
    const stop = new AbortController();
    judge(viewer, "rules", body, stop.signal).then(
      (found) => (verdicts.value = found),
      (error: unknown) => {
        if (!stop.signal.aborted) failure.value = failureOf(error);
      },
    );
    return () => stop.abort();
  }, [viewer, text, attempt.value]);
  return (
    <section class="panel" aria-label="Rules">
      <h2>Rules <span class="group">{text !== "" && <Button icon="cross" label="Remove the rules" hidden onClick={() => (viewer.rules.value = "")} />}<Button icon="edit" label={text === "" ? "Write rules" : "Change the rules"} hidden onClick={() => (editing.value = true)} /></span></h2>
      {text === "" && <p class="small">Say what this capture must show, and see where it does not.</p>}
      {failure.value && <Trouble failure={failure.value} again={() => attempt.value++} />}
      {text !== "" && !verdicts.value && !failure.value && <p class="small" role="status">Judging…</p>}
      {verdicts.value && <><p class="small" role="status">{summary(verdicts.value)}</p><VerdictList viewer={viewer} verdicts={verdicts.value} /></>}
      {editing.value && <RulesSheet viewer={viewer} onClose={() => (editing.value = false)} />}
    </section>
  );
}

function RulesSheet({ viewer, onClose }: { viewer: Viewer; onClose: () => void }) {
  const { lanes } = viewer.source;
  const names = (kind: "digital" | "analog"): readonly string[] => lanes.filter((lane) => lane.kind === kind).map(({ name }) => name);
  const text = useSignal(viewer.rules.peek() || localStorage.getItem(KEPT) || exampleRules(names("digital"), names("analog")));
  const faults = useSignal<readonly Fault[]>([]);
  const failure = useSignal<Failure | undefined>(undefined);
  const busy = useSignal(false);
  const submit = async (): Promise<void> => {
    const { body, lines, faults: found } = readRules(text.peek());
    faults.value = found;
    failure.value = undefined;
    if (!body) return;
    busy.value = true;
    try {
      await judge(viewer, "rules", body, new AbortController().signal);
      localStorage.setItem(KEPT, text.peek());
      viewer.rules.value = text.peek();
      onClose();
    } catch (error) {
      const { refusal } = (failure.value = failureOf(error));
      if (refusal.problems?.length) [faults.value, failure.value] = [faultsOf(lines, refusal.problems), undefined];
    }
    busy.value = false;
  };
  return (
    <Sheet title="Rules" onClose={onClose}>
      <form class="stack" onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}>
        <Text label="Rules, as YAML or JSON" mono rows={14} value={text.value} onInput={(next) => (text.value = next)} hint={`Channels: ${lanes.map(({ name }) => name).join(", ")}. Times count from ${viewer.trigger.value !== undefined ? "the trigger" : "the first sample"}.`} />
        {faults.value.length > 0 && <Faults faults={faults.value} />}
        {failure.value && <Trouble failure={failure.value} />}
        <details>
          <summary>What rules look like</summary>
          <pre class="small">{EXAMPLES}</pre>
        </details>
        <div class="sheet-end"><Button label="Cancel" onClick={onClose} /><Button type="submit" kind="main" label="Judge" busy={busy.value} /></div>
      </form>
    </Sheet>
  );
}

const EXAMPLES = `channels: { clk: LA1, rst: LA2 }
rules:
  - name: clock runs at 1 MHz
    frequency: { channel: clk, value: 1MHz, tolerance: 1% }
    from: 1ms
  - name: reset is held
    pulse: { channel: rst, level: low, min: 10us }
  - name: clock starts after reset
    within: { edge: clk rising, after: rst rising, time: 50us, when: once }
  - name: sensor answers
    i2c: { scl: LA1, sda: LA2, address: 0x76, answered: true }
  - name: no error frame
    bytes: { decoder: uart, channels: { rx: LA3 }, bytes: "DE AD", max: 0 }`;
