// What the registers of parts on a bus held: at cursor A, or at the end of what is seen.
import { useMemo } from "preact/hooks";
import { instant } from "../model/axis.ts";
import { Registers } from "../model/registers.ts";
import { Rows } from "../ui/rows.tsx";
import type { Decoder } from "./decoders.ts";
import type { Viewer } from "./viewer.ts";

export const hasRegisters = (decoder: Decoder): boolean => decoder.decoding.protocol === "i2c-registers" && decoder.rows.value.length > 0;

export function RegisterTable({ viewer, decoder, needle, edition }: { viewer: Viewer; decoder: Decoder; needle: string; edition: number }) {
  const annotations = decoder.rows.value[0]!.annotations;
  const registers = useMemo(() => new Registers(annotations), [annotations]);
  const { a } = viewer.cursors.value;
  const at = a ?? Math.min(viewer.view.value.to, viewer.source.samples);
  const wanted = needle.toLowerCase();
  const held = registers.at(at).filter(({ part, register, value }) => `${part} ${register} ${value}`.toLowerCase().includes(wanted));
  const time = (sample: number): string => instant(viewer.seconds(sample), 1 / viewer.source.rate);
  const open = (row: number): void => viewer.lookAt(annotations.start(held[row]!.index), annotations.end(held[row]!.index));
  return (
    <>
      <p class="small as-of">What was read or written last before {a === undefined ? "the end of the view" : "cursor A"}, {time(at)}</p>
      <div class="line header" aria-hidden="true"><span>Last</span><span /><span>Part</span><span>Register</span></div>
      <Rows count={held.length} rowHeight={24} label="Registers" role="grid" edition={edition + at} onOpen={open} render={(row, id, isChosen) => {
        const { part, register, value, isWritten, index } = held[row]!;
        return (
          <div key={`${part} ${register}`} id={id} role="row" aria-rowindex={row + 1} aria-selected={isChosen} class={isChosen ? "line chosen" : "line"} onClick={() => open(row)}>
            <span role="gridcell">{time(annotations.start(index))}</span>
            <span role="gridcell">{isWritten ? "written" : "read"}</span>
            <span role="gridcell" class="kind">{part}</span>
            <span role="gridcell"><span class="on-phone">{part}: </span>{register} = {value}</span>
          </div>
        );
      }} />
    </>
  );
}
