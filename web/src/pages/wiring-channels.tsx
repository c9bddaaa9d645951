// The fourteen channels: what each is wired to.
import { type Direction, FREE, ROLES, type Role, type Use, isRole } from "../model/wiring.ts";
import { type Column, Table } from "../ui/table.tsx";

const DIRECTIONS: Readonly<Record<Direction, string>> = { input: "From the target", output: "To the target", open_drain: "Open drain", bidir: "Both ways" };
const NAME = "[A-Za-z][A-Za-z0-9_]{0,31}";

interface Row {
  readonly channel: number;
  readonly use: Use;
  readonly taken: ReadonlyMap<Role, number>;
  readonly set: (use: Use) => void;
}

const COLUMNS: readonly Column<Row>[] = [
  { name: "Channel", cell: ({ channel }) => `LA${channel + 1}` },
  { name: "Wired to", cell: (row) => <UseChoice {...row} /> },
  { name: "Signal", wide: true, cell: ({ use, channel, set }) => (use.kind === "signal" ? <SignalFields channel={channel} use={use} set={set} /> : null) },
];

export function WiringChannels({ uses, onChange }: { uses: readonly Use[]; onChange: (channel: number, use: Use) => void }) {
  const taken = new Map(uses.flatMap((use, i): [Role, number][] => (use.kind === "role" ? [[use.role, i]] : [])));
  return <Table class="channels" label="Channels" rows={uses.map((use, channel): Row => ({ channel, use, taken, set: (next) => onChange(channel, next) }))} columns={COLUMNS} keyOf={({ channel }) => channel} />;
}

function UseChoice({ channel, use, taken, set }: Row) {
  const value = use.kind === "role" ? use.role : use.kind;
  const choose = (next: string): void => {
    if (isRole(next)) set({ kind: "role", role: next });
    else set(next === "signal" ? { kind: "signal", signal: { name: "", direction: "input" } } : FREE);
  };
  return (
    <select class={use.kind === "none" ? "free" : ""} aria-label={`What LA${channel + 1} is wired to`} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      <option value="none">Nothing</option>
      <option value="signal">A signal with a name</option>
      {Object.entries(ROLES).map(([role, name]) => {
        const at = taken.get(role as Role);
        return <option key={role} value={role}>{name}{at !== undefined && at !== channel ? ` (now LA${at + 1})` : ""}</option>;
      })}
    </select>
  );
}

function SignalFields({ channel, use: { signal }, set }: { channel: number; use: Extract<Use, { kind: "signal" }>; set: (use: Use) => void }) {
  const change = (members: Partial<typeof signal>): void => set({ kind: "signal", signal: { ...signal, ...members } });
  const of = `of LA${channel + 1}`;
  return (
    <span class="signal">
      <input aria-label={`Name ${of}`} placeholder="Name" required pattern={NAME} title="Letters, digits and _, beginning with a letter, at most 32" maxLength={32} value={signal.name} onInput={(event) => change({ name: event.currentTarget.value })} />
      <select aria-label={`Direction ${of}`} value={signal.direction ?? "input"} onChange={(event) => change({ direction: event.currentTarget.value as Direction })}>
        {Object.entries(DIRECTIONS).map(([one, name]) => <option key={one} value={one}>{name}</option>)}
      </select>
      <label class="check"><input type="checkbox" checked={signal.active_low === true} onChange={(event) => change({ active_low: event.currentTarget.checked })} /> Active low</label>
      <input aria-label={`Description ${of}`} placeholder="What it is" maxLength={120} value={signal.description ?? ""} onInput={(event) => change({ description: event.currentTarget.value })} />
    </span>
  );
}
