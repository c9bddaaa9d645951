// What is to be flashed, and how: a file of this computer, or a file of a build.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { request, url } from "../api/client.ts";
import { useGet } from "../api/resource.ts";
import type { DevicesDevice, DevicesFlash } from "../api/schema.ts";
import { useUpload } from "../api/upload.ts";
import { query, setQuery } from "../router.ts";
import { Submit } from "../ui/button.tsx";
import { FileDrop } from "../ui/drop.tsx";
import { Check, Field } from "../ui/field.tsx";
import { Sent } from "../ui/progress.tsx";
import { Trouble } from "../ui/states.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { obstacle } from "./device-state.tsx";
import { BuildFile, type Chosen, idOf } from "./flash-build.tsx";
import { FirmwareInfo } from "./flash-file.tsx";

const SOURCES = [{ id: "file", name: "A file" }, { id: "build", name: "A build's file" }] as const;

/** Plain bytes say nothing of where they belong. */
const isPlain = (file: File | undefined): boolean => file !== undefined && /\.bin$/i.test(file.name);

export function FlashForm({ device, busy, onBegun }: { device: DevicesDevice; busy: boolean; onBegun: () => void }) {
  const source = query.value.get("from") === "build" ? "build" : "file";
  const file = useSignal<File | undefined>(undefined);
  const chosen = useSignal<Chosen | undefined>(undefined);
  const [target, address] = [useSignal(""), useSignal("")];
  const [underReset, verify, force] = [useSignal(false), useSignal(true), useSignal(false)];
  const sending = useUpload();
  const wiring = useGet(`wiring ${device.id}`, "GET /bench/devices/{id}/wiring/profile", { path: { id: device.id } });
  const wired = String(wiring.data.value?.profile["swd_target"] ?? "");
  const options = () => ({ ...(target.value.trim() ? { target: target.value.trim() } : {}), connect_under_reset: underReset.value, verify: verify.value, force: force.value });

  const flashing = useAction(async () => {
    const to = url("POST /bench/devices/{id}/flash", { id: device.id });
    const headers = { prefer: "respond-async" };
    if (source === "build") {
      const body = JSON.stringify({ ...options(), ...idOf(chosen.peek()!) });
      await request(to, { method: "POST", body, headers: { ...headers, "content-type": "application/json" } });
    } else {
      const form = new FormData();
      for (const [name, value] of Object.entries(options())) form.set(name, String(value));
      if (isPlain(file.peek()) && address.value.trim()) form.set("load_addr", address.value.trim());
      form.set("firmware", file.peek()!);
      await sending.send<DevicesFlash>(to, form, { headers });
    }
    onBegun();
  });
  const wrong = flashing.failure.value?.fields ?? {};
  const held = obstacle(device);
  const what = source === "build" ? chosen.value : file.value;
  return (
    <section class="card" aria-labelledby="flash-what">
      <h2 id="flash-what">Flash the target</h2>
      <form class="stack" onSubmit={(event) => {
        event.preventDefault();
        void flashing.run();
      }}>
        <Tabs label="Where the firmware comes from" tabs={SOURCES} current={source} onChoose={(id) => setQuery({ from: id === "file" ? undefined : id })} />
        {source === "file" ? (
          <>
            <FileDrop label="Choose firmware" of={file}>ELF, Intel HEX, UF2 or plain bytes</FileDrop>
            {file.value && <FirmwareInfo key={`${file.value.name} ${file.value.lastModified}`} file={file.value} target={target.value.trim() || wired} />}
          </>
        ) : <BuildFile device={device.id} chosen={chosen.value} onChoose={(one) => (chosen.value = one)} />}
        <Trouble failure={wiring.failure.value} again={() => void wiring.reload()} />
        <Field label="Target" of={target} placeholder={wired || "STM32F030R8"} maxLength={128} wrong={wrong["target"]}
          hint={wired ? `Empty: ${wired}, as the device is wired.` : "A chip, or an OpenOCD configuration such as target/stm32f0x.cfg."} />
        {source === "file" && isPlain(file.value) && <Field label="Address" of={address} placeholder="0x08000000" hint="Empty: the start of the flash." wrong={wrong["load_addr"]} />}
        <details>
          <summary>Options</summary>
          <div class="stack">
            <Check label="Read everything back and compare" of={verify} />
            <Check label="Connect under reset" of={underReset} />
            <Check label="Flash even if the chip is another one" of={force} />
          </div>
        </details>
        <Sent by={sending} />
        <Trouble failure={flashing.failure.value} />
        <div class="sheet-end">
          {(held ?? (busy ? "A flash is under way." : undefined)) && <p class="small grow">{held ?? "A flash is under way."}</p>}
          <Submit label="Flash" busy={flashing.busy.value} disabled={!what || busy || held !== undefined} />
        </div>
      </form>
    </section>
  );
}
