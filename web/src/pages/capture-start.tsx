// The sheet that starts a capture: lanes by the names that the wiring gives them, rate, length, and a trigger in words.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { type Given, call } from "../api/client.ts";
import { refresh, useResource } from "../api/resource.ts";
import { duration } from "../model/axis.ts";
import { DRAFT, type Draft, faults, isProtocol, triggerOf } from "../model/trigger.ts";
import { navigate } from "../router.ts";
import { Choice, Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { toast } from "../ui/toast.tsx";
import { TriggerFields } from "./capture-trigger.tsx";
import { obstacle } from "./device-state.tsx";
import { useDevices } from "./devices.tsx";
import { Lanes, laneNames, laneOptions } from "./lanes.tsx";

const RATES = [0.1, 0.5, 1, 2, 5, 10, 20, 50, 100];
const SECONDS = [0.01, 0.1, 0.5, 1, 2, 4, 10, 60, 600];

/** Longer than a pod's memory, samples are sent while they are taken, where it does that: so many at most. */
const STREAM_SAMPLES_MAX = 4_294_967_296;

/** The server keeps so many before what a decoder sees. */
const PRE_SAMPLES_MAX = 1_048_576;

/** What may be kept from before the trigger, in parts of the capture. */
const BEFORE = [0, 0.1, 0.25, 0.5, 0.9];

/** The ADC is slower than the logic channels: so many samples a second at most, which the server says, too. */
const ADC_MHZ_MAX = 0.4;

const KINDS = [
  { value: "logic", name: "Logic channels" },
  { value: "i2c", name: "An I²C bus" },
  { value: "analog", name: "The analog input" },
  { value: "dual", name: "Logic and analog" },
] as const;
type Kind = (typeof KINDS)[number]["value"];

type Body = Given<"POST /la/captures/start">["body"];
type Channel = NonNullable<Body["channels"]>[number];

const named = (lane: number | string): Channel => `LA${lane}` as Channel;

/** What of a sheet each kind of capture sends, and where. */
async function begin(kind: Kind, { channels, voltage_mv, ...common }: Body, bus: { readonly scl: Channel; readonly sda: Channel }): Promise<{ readonly capture_id: string; readonly warnings?: readonly string[] }> {
  const { samples, sample_rate_mhz: rate, ...rest } = common;
  const adcRate = Math.min(rate, ADC_MHZ_MAX);
  switch (kind) {
    case "logic":
      return call("POST /la/captures/start", { body: { ...common, voltage_mv: voltage_mv ?? null, channels } });
    case "i2c":
      return call("POST /analyzer/captures/start", { body: { ...common, voltage_mv: voltage_mv ?? null, ...bus } });
    case "analog":
      return call("POST /scope/captures/start", { body: { ...rest, pre_samples: rest.pre_samples && Math.floor((rest.pre_samples / rate) * adcRate), sample_rate_mhz: adcRate, samples: Math.round((samples / rate) * adcRate) } });
    case "dual":
      return call("POST /capture/start", { body: { ...rest, la_rate_mhz: rate, la_samples: samples, adc_rate_mhz: adcRate, adc_samples: Math.round((samples / rate) * adcRate) } });
  }
}

export function StartSheet({ device: given, onClose }: { device: string | undefined; onClose: () => void }) {
  const devices = useDevices(2000);
  const all = devices.data.value?.devices ?? [];
  const chosen = useSignal(given ?? "");
  const device = all.find(({ id }) => id === chosen.value) ?? all.find(({ online }) => online);
  const [name, rate, seconds, volts] = [useSignal(""), useSignal("1"), useSignal("1"), useSignal("3300")];
  const kind = useSignal<Kind>("logic");
  const [scl, sda] = [useSignal("2"), useSignal("1")];
  const [trigger, before, tried] = [useSignal<Draft>(DRAFT), useSignal("0"), useSignal(false)];
  const lanes = useSignal<ReadonlySet<number>>(new Set());
  const wiring = useResource(`wiring ${device?.id}`, (signal) => (device ? call("GET /bench/devices/{id}/wiring/profile", { path: { id: device.id } }, signal) : Promise.resolve(undefined)));
  const profile = wiring.data.value?.profile;
  useEffect(() => {
    if (profile?.["la_mv"]) volts.value = String(profile["la_mv"]);
    if (profile?.["i2c_scl"]) scl.value = String(profile["i2c_scl"]);
    if (profile?.["i2c_sda"]) sda.value = String(profile["i2c_sda"]);
    const { rx, baud } = trigger.peek();
    trigger.value = { ...trigger.peek(), scl: scl.peek(), sda: sda.peek(), rx: String(profile?.["uart_rx"] ?? rx), baud: String(profile?.["uart_baud"] ?? baud) };
  }, [profile]);
  const samples = Math.round(Number(seconds.value) * Number(rate.value) * 1e6);
  const isLogic = kind.value === "logic" || kind.value === "i2c";
  const most = isLogic && device?.capabilities["capture_stream"] === true ? STREAM_SAMPLES_MAX : device?.capabilities["la_max_samples"];
  const tooMany = typeof most === "number" && samples > most;
  const { condition } = trigger.value;
  const isWaiting = condition !== "";
  const kept = Math.min(Math.floor(samples * Number(before.value)), isProtocol(condition) ? PRE_SAMPLES_MAX : Infinity);
  const names = laneNames(profile);

  const start = useAction(async () => {
    const begins = isWaiting ? triggerOf(trigger.peek(), kind.value === "i2c") : undefined;
    const body: Body = {
      device_id: device!.id,
      samples,
      sample_rate_mhz: Number(rate.value),
      voltage_mv: Number(volts.value) as 1800 | 3300,
      name: name.value.trim() || undefined,
      channels: lanes.value.size > 0 ? [...lanes.value].sort((a, b) => a - b).map(named) : undefined,
      trigger: begins, pre_samples: begins && kept > 0 ? kept : undefined,
    };
    const { capture_id, warnings } = await begin(kind.value, body, { scl: named(scl.value), sda: named(sda.value) });
    refresh("captures");
    warnings?.forEach((warning) => toast(warning));
    // A bus is shown decoded once it is there; waves are watched while they arrive.
    navigate(kind.value === "i2c" ? `/captures/${capture_id}` : `/captures/live?device=${device!.id}`);
  });
  const wrong = start.failure.value?.fields ?? {};
  const held = device && obstacle(device);

  return (
    <FormSheet title="Start a capture" submit="Start" action={start} disabled={!device || held !== undefined || tooMany} onSubmit={() => {
      tried.value = true;
      return isWaiting && Object.keys(faults(trigger.value)).length > 0 ? Promise.resolve(false) : start.run();
    }} onClose={onClose}>
      {!given && <Choice label="Device" value={device?.id ?? ""} onChange={(id) => (chosen.value = id)} options={all.map(({ id, name: called, online }) => ({ value: id, name: online ? called : `${called} (offline)`, disabled: !online }))} wrong={wrong["device_id"]} />}
      {held && <p class="small" role="status">{held}</p>}
      <Choice label="What" value={kind.value} onChange={(next) => {
        kind.value = next as Kind;
        // Decoders look at logic lanes alone.
        if (isProtocol(condition) && (next === "analog" || next === "dual")) trigger.value = { ...trigger.value, condition: "" };
      }} options={KINDS} />
      <Field label="Name" of={name} maxLength={128} placeholder="boot, with the new clock" wrong={wrong["name"]} />
      <div class="columns">
        <Choice label="Rate" of={rate} options={RATES.map((mhz) => ({ value: String(mhz), name: mhz < 1 ? `${mhz * 1000} kHz` : `${mhz} MHz` }))} wrong={wrong["sample_rate_mhz"] ?? wrong["la_rate_mhz"] ?? wrong["adc_rate_mhz"]} hint={(kind.value === "analog" || kind.value === "dual") && Number(rate.value) > ADC_MHZ_MAX ? `The analog input takes ${ADC_MHZ_MAX * 1000} kHz.` : undefined} />
        <Choice label="Length" of={seconds} options={SECONDS.map((s) => ({ value: String(s), name: duration(s) }))} wrong={wrong["samples"] ?? (tooMany ? `This device takes ${most.toLocaleString("en")} samples at most: choose a lower rate or a shorter length.` : undefined)} />
        {(kind.value === "logic" || kind.value === "i2c") && <Choice label="Levels" of={volts} options={[{ value: "3300", name: "3.3 V" }, { value: "1800", name: "1.8 V" }]} wrong={wrong["voltage_mv"]} />}
      </div>
      {kind.value === "logic" && <Lanes names={names} chosen={lanes.value} onChange={(next) => (lanes.value = next)} />}
      {kind.value === "i2c" && (
        <div class="columns">
          <Choice label="SCL" of={scl} options={laneOptions(names)} wrong={wrong["scl"]} />
          <Choice label="SDA" of={sda} options={laneOptions(names)} wrong={wrong["sda"]} />
        </div>
      )}
      <TriggerFields draft={trigger.value} onChange={(draft) => (trigger.value = draft)} names={names} capabilities={device?.capabilities ?? {}} isBus={kind.value === "i2c"} takesProtocols={isLogic} shows={tried.value} wrong={wrong} />
      {isWaiting && device?.capabilities["capture_pre_samples"] === true && (
        <Choice label="Before the trigger" of={before} options={BEFORE.map((part) => ({ value: String(part), name: part === 0 ? "nothing is kept" : `${part * 100} % of the capture, ${duration((samples * part) / Number(rate.value) / 1e6)}` }))} hint={kept > 0 && kept < Math.floor(samples * Number(before.value)) ? `The server keeps ${kept.toLocaleString("en")} samples at most, ${duration(kept / Number(rate.value) / 1e6)}.` : undefined} wrong={wrong["pre_samples"]} />
      )}
    </FormSheet>
  );
}
