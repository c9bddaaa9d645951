// Both directions of a UART as a conversation: what the one side said on the left, the other on the right.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Turn, asHex, asText, conversation } from "../model/conversation.ts";
import { instant } from "../model/axis.ts";
import { Rows, type RowsHandle } from "../ui/rows.tsx";
import type { Decoder } from "./decoders.ts";
import type { Viewer } from "./viewer.ts";

/** A line that rests for so many bits begins a new turn. */
const PAUSE_BITS = 20;
const USUAL_BAUD = 115_200;

/** Decoders whose rows make a conversation. */
export const canTalk = (decoder: Decoder): boolean => decoder.decoding.protocol === "uart" && decoder.rows.value.some(({ id }) => /^[rt]x-data$/.test(id));

export function Conversation({ viewer, decoder, needle, asBytes, inStep, edition }: { viewer: Viewer; decoder: Decoder; needle: string; asBytes: boolean; inStep: boolean; edition: number }) {
  const handle = useRef<RowsHandle>(null);
  const { rate } = viewer.source;
  const rows = decoder.rows.value;
  const said = rows.reduce((sum, { annotations }) => sum + annotations.length, 0);
  const all = useMemo(() => {
    const baud = Number(decoder.decoding.options["baudrate"]) || USUAL_BAUD;
    const lines = (["rx", "tx"] as const).flatMap((line) => rows.filter(({ id }) => id.startsWith(`${line}-`)).map(({ annotations }) => ({ line, annotations })));
    return conversation(lines, (rate / baud) * PAUSE_BITS);
  }, [decoder, rows, said]);
  const turns = useMemo(() => (needle === "" ? all : all.filter(({ bytes }) => `${asText(bytes)}\n${asHex(bytes)}`.toLowerCase().includes(needle.toLowerCase()))), [all, needle]);
  const { from } = viewer.view.value;
  useEffect(() => {
    if (!inStep) return;
    const timer = setTimeout(() => handle.current?.show(Math.max(0, turns.findIndex(({ to }) => to >= from)), "top"), 80);
    return () => clearTimeout(timer);
  }, [from, turns, inStep]);
  const words = ({ bytes, faults }: Turn): string => `${asBytes ? asHex(bytes) : asText(bytes)}${faults > 0 ? " ⚠" : ""}`;
  const name = (line: "rx" | "tx"): string => `${line.toUpperCase()} ${decoder.decoding.channels[line] ?? ""}`.trim();
  return (
    <>
      <div class="line talk header" aria-hidden="true"><span>Time</span><span>{name("rx")}</span><span>{name("tx")}</span></div>
      <Rows count={turns.length} rowHeight={24} label="Conversation" role="grid" handle={handle} edition={edition + (asBytes ? 1 : 0)} onOpen={(i) => viewer.lookAt(turns[i]!.from, turns[i]!.to)} render={(i, id, isChosen) => {
        const turn = turns[i]!;
        return (
          <div key={i} id={id} role="row" aria-rowindex={i + 1} aria-selected={isChosen} class={isChosen ? "line talk chosen" : "line talk"} onClick={() => viewer.lookAt(turn.from, turn.to)}>
            <span role="gridcell">{instant(viewer.seconds(turn.from), 1 / rate)}</span>
            <span role="gridcell" class="mono">{turn.line === "rx" && <span class="turn">{words(turn)}</span>}</span>
            <span role="gridcell" class="mono">{turn.line === "tx" && <span class="turn tx">{words(turn)}</span>}</span>
          </div>
        );
      }} />
    </>
  );
}
