// The pages that tests go through, and what has to be there for them to show.
import { api, board, capture, stage } from "./stage.mjs";

/** Name, address, what the page reads first. */
export const pages = () => [
  ["devices", "/devices", "**/api/bench/devices"],
  ["device", `/devices/${stage.device}`, `**/api/bench/devices/${stage.device}`],
  ["console", `/devices/${stage.device}/console`, `**/api/bench/devices/${stage.device}`],
  ["device-captures", `/devices/${stage.device}/captures`, "**/api/captures?*"],
  ["captures", "/captures", "**/api/captures"],
  ["capture-start", "/captures?sheet=start", undefined],
  ["capture-import", "/captures?sheet=import", undefined],
  ["viewer", `/captures/${stage.capture}`, `**/api/capture/${stage.capture}?*`],
  ["live", `/captures/live?device=${stage.device}`, undefined],
  ["jobs", "/jobs", "**/api/jobs"],
  ["job-submit", "/jobs/submit", undefined],
  ["flash", `/devices/${stage.device}/flash`, "**/api/bench/devices/*/flash"],
  ["wiring", `/devices/${stage.device}/wiring`, "**/wiring/profile"],
  ["measurements", "/measurements", "**/api/measurements?*"],
  ["waveforms", "/waveforms", "**/api/bench/waveforms"],
  ["waveform", `/waveforms/${stage.waveform}`, "**/preview?*"],
  ["waveform-make", "/waveforms?sheet=make", undefined],
  ["boards", "/boards", "**/api/emi/projects"],
  ["board", `/boards/${stage.project}`, "**/api/emi/projects/*/runs"],
  ["board-run", `/boards/${stage.project}?run=${stage.run}`, "**/api/emi/runs/*/findings?*"],
  ["keys", "/keys", "**/api/keys"],
  ["people", "/people", "**/api/users"],
  ["leases", "/people/leases", undefined],
  ["trust", "/people/trust", "**/api/github/trust"],
  ["plugins", "/plugins", "**/api/plugins"],
  ["secrets", "/settings", "**/api/secrets"],
  ["webhooks", "/settings/webhooks", "**/api/webhooks"],
  ["webhook", `/settings/webhooks?webhook=${stage.webhook}`, "**/deliveries"],
  ["badges", "/settings/badges", "**/api/badges"],
];

/** Makes what the pages show. */
export async function fill() {
  if (stage.capture) return;
  stage.capture = await capture("boot");
  stage.waveform = (await api("/bench/waveforms/segments", { name: "brown-out", dac_path: "3v3", segments: [{ shape: "ramp", duration_ms: 50, v_start: 3.3, v_end: 0.2 }, { shape: "hold", duration_ms: 20, v_start: 0.2 }] })).id;
  stage.project = (await api("/emi/projects", { name: "sensor" })).id;
  stage.run = (await board(stage.project)).run;
  await api("/secrets/CAL_TOKEN", { value: "correct horse battery", refs: ["main"] }, { method: "PUT" });
  stage.webhook = (await api("/webhooks", { url: "https://receiver.invalid/hooks/bench", name: "blinky" })).id;
  await api("/badges", { name: "blinky", ref: "main" });
}
