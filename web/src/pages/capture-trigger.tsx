// What a capture begins with, in words: an edge, a pulse, levels, or what a decoder sees; and what is kept from before.
import { type Condition, CONDITIONS, type Draft, type Level, faults, isProtocol } from "../model/trigger.ts";
import { Choice, Field } from "../ui/field.tsx";
import { LANES, laneOptions } from "./lanes.tsx";

const LEVELS = [{ value: "high", name: "high" }, { value: "low", name: "low" }] as const;

/** `wrong` is what the server said of members of `trigger`. `isBus`: an I²C capture, which knows its lines. */
export function TriggerFields({ draft, onChange, names, capabilities, isBus, takesProtocols, shows, wrong }: {
  draft: Draft;
  onChange: (draft: Draft) => void;
  names: readonly string[];
  capabilities: Readonly<Record<string, unknown>>;
  isBus: boolean;
  takesProtocols: boolean;
  /** Whether what is not filled in is said already. */
  shows: boolean;
  wrong: Readonly<Record<string, string>>;
}) {
  const { condition } = draft;
  const said = shows ? faults(draft) : {};
  const set = (change: Partial<Draft>): void => onChange({ ...draft, ...change });
  const lane = (label: string, member: "lane" | "scl" | "sda" | "rx") => <Choice label={label} value={draft[member]} onChange={(to) => set({ [member]: to })} options={laneOptions(names)} />;
  const level = (label: string) => <Choice label={label} value={draft.level} onChange={(to) => set({ level: to as Level })} options={LEVELS} />;
  const time = (label: string) => <Field label={label} value={draft.time} onInput={(text) => set({ time: text })} placeholder="10 us" wrong={said.time} />;
  const options = CONDITIONS.map((one) => {
    const isThere = !("needs" in one) || (capabilities[one.needs] === true && (takesProtocols || !isProtocol(one.value)));
    return { value: one.value, name: isThere ? one.name : `${one.name} (${"needs" in one && capabilities[one.needs] === true ? "logic lanes alone" : "not with this device"})`, disabled: !isThere };
  });
  return (
    <>
      <Choice label="Begin" value={condition} onChange={(to) => set({ condition: to as Condition })} options={options} />
      {condition !== "" && (
        <fieldset class="trigger">
          <legend>Trigger</legend>
          {condition === "pattern" && <Pattern draft={draft} names={names} wrong={said.pattern} onChange={(pattern) => set({ pattern })} />}
          <div class="columns">
            {["rising", "falling", "high", "low"].includes(condition) && lane("of lane", "lane")}
            {condition === "pulse" && <>{lane("of lane", "lane")}{level("that is")}<Choice label="and" value={draft.than} onChange={(to) => set({ than: to as Draft["than"] })} options={[{ value: "shorter", name: "shorter than" }, { value: "longer", name: "longer than" }]} />{time("a time of")}</>}
            {condition === "level" && <>{lane("of lane", "lane")}{level("that is")}{time("for")}</>}
            {condition === "i2c" && (
              <>
                {!isBus && <>{lane("SCL", "scl")}{lane("SDA", "sda")}</>}
                <Field label="Address" value={draft.address} onInput={(text) => set({ address: text })} placeholder="0x76" wrong={said.address} />
                <Choice label="Direction" value={draft.direction} onChange={(to) => set({ direction: to as Draft["direction"] })} options={[{ value: "", name: "read or write" }, "read", "write"]} />
              </>
            )}
            {condition === "uart" && (
              <>
                {lane("Lane", "rx")}
                <Field label="Bytes" value={draft.bytes} onInput={(text) => set({ bytes: text })} placeholder="55 AA ?? 01" wrong={said.bytes} />
                <Field label="Baud rate" type="number" min={1} unit="baud" value={draft.baud} onInput={(text) => set({ baud: text })} />
                <Choice label="Parity" value={draft.parity} onChange={(to) => set({ parity: to as Draft["parity"] })} options={["none", "even", "odd"]} />
              </>
            )}
            <Field label="Give up after" type="number" min={0.001} max={600} step="any" unit="s" value={draft.timeout} onInput={(text) => set({ timeout: text })} wrong={said.timeout} />
          </div>
          {Object.entries(wrong).filter(([field]) => field.startsWith("trigger")).map(([field, words]) => <p key={field} class="fault" role="alert">{words}</p>)}
        </fieldset>
      )}
    </>
  );
}

/** Of each lane: high, low, or whatever it is. */
function Pattern({ draft: { pattern }, names, wrong, onChange }: { draft: Draft; names: readonly string[]; wrong: string | undefined; onChange: (pattern: Draft["pattern"]) => void }) {
  const set = (lane: number, level: string): void => {
    const { [lane]: _, ...others } = pattern;
    onChange(level === "" ? others : { ...others, [lane]: level as Level });
  };
  return (
    <>
      <div class="pattern">
        {Array.from({ length: LANES }, (_, i) => <Choice key={i} label={names[i]!} value={pattern[i + 1] ?? ""} onChange={(to) => set(i + 1, to)} options={[{ value: "", name: "any" }, ...LEVELS]} />)}
      </div>
      {wrong && <p class="fault" role="alert">{wrong}</p>}
    </>
  );
}
