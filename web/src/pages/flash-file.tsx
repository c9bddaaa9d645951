// What a firmware file holds and what flashing it would do, before anything is touched.
import { useAsked } from "../api/asked.ts";
import { url } from "../api/client.ts";
import type { DevicesInfo } from "../api/schema.ts";
import { upload } from "../api/upload.ts";
import { hexAddress } from "../model/flash.ts";
import { Trouble } from "../ui/states.tsx";
import { bytes } from "../ui/time.ts";

const FORMATS: Readonly<Record<DevicesInfo["format"], string>> = { elf: "ELF", hex: "Intel HEX", bin: "Plain bytes", uf2: "UF2" };

/** Larger files are not sent twice only to be looked at. */
const LOOKED_AT_MAX = 4 * 1024 * 1024;
const TYPING_MS = 300;

export function FirmwareInfo({ file, target }: { file: File; target: string }) {
  const isSmall = file.size <= LOOKED_AT_MAX;
  const read = useAsked(async (signal) => {
    if (!isSmall) return undefined;
    const form = new FormData();
    if (target && !target.includes("/")) form.set("target", target);
    form.set("firmware", file);
    return { file, info: await upload<DevicesInfo>(url("POST /bench/firmware/info"), form, { signal }) };
  }, [file, target], TYPING_MS);
  if (!isSmall) return null;
  if (read.failure) return <Trouble failure={read.failure} again={read.again} />;
  if (read.data?.file !== file) return <p class="small" role="status">Reading the file…</p>;
  const { format, bytes: data, target: on, parts } = read.data.info;
  const ranges = on?.ranges ?? parts.flatMap((part) => part.ranges);
  const erased = on?.erased.reduce((sum, one) => sum + one.bytes, 0);
  return (
    <dl class="values firmware">
      <dt>Holds</dt><dd>{FORMATS[format]}, {bytes(data)} of data</dd>
      <dt>Programs</dt><dd class="mono">{ranges.slice(0, 3).map(({ address, bytes: long }) => <span key={address}>{hexAddress(address)}, {bytes(long)}<br /></span>)}{ranges.length > 3 && `and ${ranges.length - 3} more places`}</dd>
      {on && erased !== undefined && <><dt>Erases</dt><dd>{bytes(erased)} of {on.chip}</dd></>}
      {on && on.skipped.length > 0 && <><dt>Leaves out</dt><dd>{on.skipped.map(({ bytes: long, family }) => `${bytes(long)} for ${family}`).join(", ")}</dd></>}
    </dl>
  );
}
