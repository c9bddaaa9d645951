// The sheet that imports a file of another tool as a capture.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { url } from "../api/client.ts";
import { refresh } from "../api/resource.ts";
import type { CapturesImportedCapture } from "../api/schema.ts";
import { useUpload } from "../api/upload.ts";
import { navigate } from "../router.ts";
import { Drop } from "../ui/drop.tsx";
import { Field } from "../ui/field.tsx";
import { Sent } from "../ui/progress.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { bytes } from "../ui/time.ts";
import { toast } from "../ui/toast.tsx";

export function ImportSheet({ device, onClose }: { device: string | undefined; onClose: () => void }) {
  const file = useSignal<File | undefined>(undefined);
  const [name, rate] = [useSignal(""), useSignal("")];
  const sending = useUpload();
  const importing = useAction(async () => {
    const query = { name: name.value.trim() || undefined, device_id: device, rate: rate.value ? Number(rate.value) : undefined };
    const made = await sending.send<CapturesImportedCapture>(url("POST /captures/import", {}, query), file.peek()!);
    refresh("captures");
    made.notes?.forEach((note) => toast(note));
    navigate(`/captures/${made.id}`);
  });
  const take = ([first]: readonly File[]): void => {
    if (!first) return;
    file.value = first;
    if (name.value === "") name.value = first.name.replace(/\.\w+$/, "");
  };
  const wrong = importing.failure.value?.fields ?? {};
  return (
    <FormSheet title="Import a capture" submit="Import" action={importing} disabled={!file.value} onClose={onClose}>
      <Drop label="Choose a file" onFiles={take}>
        <p class="small">{file.value ? `${file.value.name}, ${bytes(file.value.size)}` : "or drop it here: sigrok .sr, VCD, CSV, WAV, or a binary export of Saleae's Logic 2"}</p>
      </Drop>
      <Field label="Name" of={name} maxLength={128} wrong={wrong["name"]} />
      <Field label="Sample rate" unit="Hz" type="number" min={1} of={rate} hint="Only for files that do not have it." wrong={wrong["rate"]} />
      <Sent by={sending} />
    </FormSheet>
  );
}
