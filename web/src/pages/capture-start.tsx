// The sheet that starts a capture: lanes by the names that the wiring gives them, rate, length, and a trigger in words.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { type Given, call } from "../api/client.ts";
import { refresh, useResource } from "../api/resource.ts";
import { duration } from "../model/axis.ts";
import { navigate } from "../router.ts";
import { Check, Choice, Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { useDevices } from "./devices.tsx";
import { Lanes, laneNames } from "./lanes.tsx";

const RATES = [0.1, 0.5, 1, 2, 5, 10, 20, 50, 100];
const SECONDS = [0.01, 0.1, 0.5, 1, 2, 4];
const EDGES = [
  { value: "", name: "At once" },
  { value: "rising", name: "At a rising edge" },
  { value: "falling", name: "At a falling edge" },
  { value: "high", name: "When it is high" },
  { value: "low", name: "When it is low" },
] as const;
type Edge = (typeof EDGES)[number]["value"];

/** How long an armed capture waits. */
const TIMEOUT_MS = 30_000;

type Body = Given<"POST /la/captures/start">["body"];
type Channel = NonNullable<Body["channels"]>[number];

export function StartSheet({ device: given, onClose }: { device: string | undefined; onClose: () => void }) {
  const devices = useDevices(2000);
  const all = devices.data.value?.devices ?? [];
  const chosen = useSignal(given ?? "");
  const device = all.find(({ id }) => id === chosen.value) ?? all.find(({ online }) => online);
  const [name, rate, seconds, volts] = [useSignal(""), useSignal("1"), useSignal("1"), useSignal("3300")];
  const [edge, channel, before] = [useSignal<Edge>(""), useSignal("1"), useSignal(false)];
  const lanes = useSignal<ReadonlySet<number>>(new Set());
  const wiring = useResource(`wiring ${device?.id}`, (signal) => (device ? call("GET /bench/devices/{id}/wiring/profile", { path: { id: device.id } }, signal) : Promise.resolve(undefined)));
  const profile = wiring.data.value?.profile;
  useEffect(() => {
    if (profile?.["la_mv"]) volts.value = String(profile["la_mv"]);
  }, [profile]);
  const samples = Math.round(Number(seconds.value) * Number(rate.value) * 1e6);
  const most = device?.capabilities["la_max_samples"];
  const tooMany = typeof most === "number" && samples > most;
  const names = laneNames(profile);

  const start = useAction(async () => {
    const body: Body = {
      device_id: device!.id,
      samples,
      sample_rate_mhz: Number(rate.value),
      voltage_mv: Number(volts.value) as 1800 | 3300,
      ...(name.value.trim() ? { name: name.value.trim() } : {}),
      ...(lanes.value.size > 0 ? { channels: [...lanes.value].sort((a, b) => a - b).map((lane) => `LA${lane}` as Channel) } : {}),
      ...(edge.value ? { trigger: { channel: `LA${channel.value}` as Channel, edge: edge.value, timeout_ms: TIMEOUT_MS } } : {}),
      ...(edge.value && before.value ? { pre_samples: Math.floor(samples / 10) } : {}),
    };
    await call("POST /la/captures/start", { body });
    refresh("captures");
    navigate(`/captures/live?device=${device!.id}`);
  });
  const wrong = start.failure.value?.fields ?? {};

  return (
    <FormSheet title="Start a capture" submit="Start" busy={start.busy.value} failure={start.failure.value} disabled={!device?.online || tooMany} onSubmit={() => start.run()} onClose={onClose}>
      {!given && <Choice label="Device" value={device?.id ?? ""} onChange={(id) => (chosen.value = id)} options={all.map(({ id, name: called, online }) => ({ value: id, name: online ? called : `${called} (offline)`, disabled: !online }))} wrong={wrong["device_id"]} />}
      <Field label="Name" value={name.value} onInput={(text) => (name.value = text)} maxLength={128} placeholder="boot, with the new clock" wrong={wrong["name"]} />
      <div class="columns">
        <Choice label="Rate" value={rate.value} onChange={(text) => (rate.value = text)} options={RATES.map((mhz) => ({ value: String(mhz), name: mhz < 1 ? `${mhz * 1000} kHz` : `${mhz} MHz` }))} wrong={wrong["sample_rate_mhz"]} />
        <Choice label="Length" value={seconds.value} onChange={(text) => (seconds.value = text)} options={SECONDS.map((s) => ({ value: String(s), name: duration(s) }))} wrong={wrong["samples"] ?? (tooMany ? `This device takes ${most.toLocaleString("en")} samples at most: choose a lower rate or a shorter length.` : undefined)} />
        <Choice label="Levels" value={volts.value} onChange={(text) => (volts.value = text)} options={[{ value: "3300", name: "3.3 V" }, { value: "1800", name: "1.8 V" }]} wrong={wrong["voltage_mv"]} />
      </div>
      <Lanes names={names} chosen={lanes.value} onChange={(next) => (lanes.value = next)} />
      <div class="columns">
        <Choice label="Begin" value={edge.value} onChange={(text) => (edge.value = text as Edge)} options={EDGES} wrong={wrong["trigger"]} />
        {edge.value !== "" && <Choice label="of lane" value={channel.value} onChange={(text) => (channel.value = text)} options={names.map((called, i) => ({ value: String(i + 1), name: called }))} />}
      </div>
      {edge.value !== "" && device?.capabilities["capture_pre_samples"] === true && <Check label="Keep a tenth of it from before the trigger" on={before.value} onChange={(on) => (before.value = on)} />}
    </FormSheet>
  );
}
