// The console of a device: what its target says, and what is typed to it.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isMine } from "../api/leases.ts";
import { useGet } from "../api/resource.ts";
import type { DevicesDevice } from "../api/schema.ts";
import { holderOf } from "../pages/device-state.tsx";
import { laneNames } from "../pages/lanes.tsx";
import type { RailName } from "../pages/power.tsx";
import { query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Check } from "../ui/field.tsx";
import { LineState } from "../ui/line-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Rows } from "../ui/rows.tsx";
import { Search } from "../ui/search.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { count } from "../ui/time.ts";
import { SerialLine } from "./line.ts";
import { Restart } from "./restart.tsx";
import { Silence } from "./silence.tsx";
import { save } from "./save.ts";
import { type ScreenHandle, ScreenView } from "./screen-view.tsx";
import { Send } from "./send.tsx";

const BAUDS = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600];
const BREAK_MS = 250;

export function ConsolePanel({ device }: { device: DevicesDevice }) {
  const wiring = useGet(`wiring ${device.id}`, "GET /bench/devices/{id}/wiring/profile", { path: { id: device.id } });
  if (device.capabilities["uart"] === false) return <Empty icon="console" title="No console"><p>This device has no serial line to a target.</p></Empty>;
  return <Loaded resource={wiring}>{({ profile }) => <Opened device={device} names={laneNames(profile)} rail={profile["efuse"] === 2 ? "external" : "internal"} />}</Loaded>;
}

function Opened({ device, names, rail }: { device: DevicesDevice; names: readonly string[]; rail: RailName }) {
  const asked = query.value;
  const [rx, tx, baud] = ["rx", "tx", "baud"].map((name) => asked.get(name) ?? undefined);
  const handle = useRef<ScreenHandle>(null);
  const [line, connect] = useState<SerialLine | undefined>();
  useEffect(() => {
    const made = new SerialLine(device.id, { rx, tx, baud }, () => handle.current?.due());
    connect(made);
    return () => made.close();
  }, [device.id, rx, tx, baud]);
  if (!line) return null;
  return <Shown device={device} line={line} names={names} rail={rail} handle={handle} />;
}

function Shown({ device, line, names, rail, handle }: { device: DevicesDevice; line: SerialLine; names: readonly string[]; rail: RailName; handle: { current: ScreenHandle | null } }) {
  // How it is shown stands in the address: a link shows the same.
  const [stamps, hex] = ["times", "hex"].map((name) => query.value.has(name)) as [boolean, boolean];
  const [away, leave] = useState(false);
  const open = line.open.value;
  const state = line.socket.line.value;
  const writable = (open?.writable ?? false) && state.state === "open";
  return (
    <section class="console" aria-label="Console">
      <div class="bar">
        <LineState line={state} />
        <Pin label="RX" value={open?.rx} names={names} onChange={(value) => setQuery({ rx: value })} />
        <Pin label="TX" value={open?.tx} names={names} onChange={(value) => setQuery({ tx: value })} />
        <label>Baud <input class="short" list="bauds" inputMode="numeric" value={open?.baud ?? ""} disabled={!writable} onChange={(event) => line.ask({ type: "baud", baud: Number(event.currentTarget.value) })} /></label>
        <datalist id="bauds">{BAUDS.map((rate) => <option key={rate} value={rate} />)}</datalist>
        {open?.parity !== undefined && <label>Parity <select value={open.parity} disabled={!writable} onChange={(event) => line.ask({ type: "parity", parity: event.currentTarget.value })}>{["none", "even", "odd"].map((one) => <option key={one} value={one} selected={one === open.parity}>{one}</option>)}</select></label>}
        <span class="small grow number">{count(line.received.value)} bytes</span>
        <Find line={line} handle={handle} />
        <Check label="Times" on={stamps} onChange={(on) => setQuery({ times: on ? "1" : undefined })} disabled={hex} />
        <Check label="Hex" on={hex} onChange={(on) => setQuery({ hex: on ? "1" : undefined })} />
        <Button label="Break" title={`Hold the line low for ${BREAK_MS} ms`} onClick={() => line.ask({ type: "break", ms: BREAK_MS })} disabled={!writable} />
        <Restart device={device} label="Restart" hidden />
        <Button label="Clear" onClick={() => line.clear()} />
        <Button icon="save" label="Save" title={`Save what was received as ${hex ? "bytes" : stamps ? "text with times" : "text"}`} onClick={() => save(device.name, line, hex ? "bytes" : stamps ? "times" : "text")} />
      </div>
      {open && !open.writable && <p class="banner"><Badge tone="warn">Read only</Badge> {device.lease ? holderOf(device.lease) : "A lease"} holds this device; you see what it sees.</p>}
      {state.state !== "open" && <Refused device={device} wasOpen={open !== undefined} />}
      {line.notice.value && <p class="banner" role="status">{line.notice.value}</p>}
      {state.state === "open" && writable && <Silence device={device} rail={rail} isSilent={line.received.value === 0} />}
      {hex ? <HexView line={line} /> : <ScreenView screen={line.screen} handle={handle} stamps={stamps} onAway={leave} onType={writable ? (text) => line.send(text) : undefined} label="What the target says" />}
      {away && !hex && <button type="button" class="to-end" onClick={() => handle.current?.toEnd()}><Icon name="down" />To the newest line</button>}
      <Send writable={writable} onSend={(text) => {
        line.send(text);
        handle.current?.toEnd();
      }} />
    </section>
  );
}

/** Why there may be no line; a browser is not given the server's reason. */
function Refused({ device, wasOpen }: { device: DevicesDevice; wasOpen: boolean }) {
  if (!device.online) return <p class="banner" role="status"><Badge tone="warn">Offline</Badge> The console opens again when the device is back.</p>;
  if (device.lease && !isMine(device)) return <p class="banner" role="status"><Badge tone="warn">In use</Badge> {holderOf(device.lease)} holds this device. What it does can be watched once it has opened the console itself.</p>;
  return wasOpen ? null : <p class="banner" role="status">No line yet. Others may have it open with other pins or another rate.</p>;
}

const Pin = ({ label, value, names, onChange }: { label: string; value: number | undefined; names: readonly string[]; onChange: (value: string) => void }) => (
  <label>{label} <select value={value ?? ""} onChange={(event) => onChange(event.currentTarget.value)}>
    {value === undefined && <option value="">–</option>}
    {names.map((name, i) => <option key={name} value={i + 1} selected={i + 1 === value}>{name}</option>)}
  </select></label>
);

/** Finds lines of the screen, the newest first: Enter goes on. */
function Find({ line, handle }: { line: SerialLine; handle: { current: ScreenHandle | null } }) {
  const needle = useSignal("");
  const at = useSignal(-1);
  const bytes = line.received.value;
  const found = useMemo(() => {
    const wanted = needle.value.toLowerCase();
    return wanted === "" ? [] : line.screen.lines.flatMap(({ text }, i) => (text.toLowerCase().includes(wanted) ? [i + line.screen.dropped] : []));
  }, [needle.value, bytes, line]);
  const go = (by: number): void => {
    if (found.length === 0) return;
    at.value = at.value < 0 ? found.length - 1 : (at.value + by + found.length) % found.length;
    handle.current?.show(found[at.value]! - line.screen.dropped);
  };
  const note = needle.value === "" ? undefined : at.value >= 0 && at.value < found.length ? `${at.value + 1} of ${count(found.length)}` : count(found.length);
  return (
    <Search label="Search the console" value={needle.value} note={note} onInput={(text) => {
      needle.value = text;
      at.value = -1;
      handle.current?.mark(text);
    }} onKeyDown={(event) => {
      if (event.key === "Enter") go(event.shiftKey ? 1 : -1);
    }} />
  );
}

function HexView({ line }: { line: SerialLine }) {
  const { dump } = line;
  const edition = line.received.value;
  return (
    <Rows count={dump.rows} rowHeight={18} label="Bytes from the target" role="log" follow edition={edition} render={(row) => {
      const { at, hex, text } = dump.row(row);
      return <div key={row} class="hexline"><span class="stamp">{at}</span>{hex}<span class="hextext">{text}</span></div>;
    }} />
  );
}
