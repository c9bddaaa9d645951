// A line that is written and then sent; earlier ones come back with the arrow up.
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button } from "../ui/button.tsx";

const ENDS = { CR: "\r", LF: "\n", CRLF: "\r\n", none: "" } as const;
const HISTORY_MAX = 100;

export function Send({ writable, onSend }: { writable: boolean; onSend: (text: string) => void }) {
  const line = useSignal("");
  const end = useSignal<keyof typeof ENDS>("CR");
  const sent = useRef<string[]>([]);
  /** How many lines back the arrow went. */
  const back = useRef(0);
  const recall = (by: number): void => {
    back.current = Math.min(sent.current.length, Math.max(0, back.current + by));
    line.value = back.current === 0 ? "" : sent.current.at(-back.current)!;
  };
  return (
    <form class="bar send" onSubmit={(event) => {
      event.preventDefault();
      onSend(line.value + ENDS[end.value]);
      if (line.value !== "" && sent.current.at(-1) !== line.value) sent.current = [...sent.current, line.value].slice(-HISTORY_MAX);
      line.value = "";
      back.current = 0;
    }}>
      <input class="grow mono" aria-label="Line to send" placeholder="Type here, or click above and type straight to the target" value={line.value} onInput={(event) => (line.value = event.currentTarget.value)} disabled={!writable} autoComplete="off" autoCapitalize="off" spellcheck={false} onKeyDown={(event) => {
        if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
        event.preventDefault();
        recall(event.key === "ArrowUp" ? 1 : -1);
      }} />
      <label>End <select value={end.value} onChange={(event) => (end.value = event.currentTarget.value as keyof typeof ENDS)}>{Object.keys(ENDS).map((name) => <option key={name}>{name}</option>)}</select></label>
      <Button type="submit" kind="main" label="Send" disabled={!writable} />
    </form>
  );
}
