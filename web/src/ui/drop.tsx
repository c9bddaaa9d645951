// A place for files: dropped, or chosen with a button.
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { bytes } from "./time.ts";

export function Drop({ label, accept, onFiles, children }: {
  label: string;
  /** As the attribute of inputs takes it: ".sr,.vcd". */
  accept?: string;
  onFiles: (files: readonly File[]) => void;
  children?: ComponentChildren;
}) {
  const id = useId();
  const [over, hover] = useState(false);
  return (
    <div class={over ? "drop over" : "drop"} onDragOver={(event) => {
      event.preventDefault();
      hover(true);
    }} onDragLeave={() => hover(false)} onDrop={(event) => {
      event.preventDefault();
      hover(false);
      onFiles([...(event.dataTransfer?.files ?? [])]);
    }}>
      <input id={id} class="hidden" type="file" accept={accept} onChange={(event) => {
        onFiles([...(event.currentTarget.files ?? [])]);
        event.currentTarget.value = "";
      }} />
      <label for={id} class="button">{label}</label>
      {children}
    </div>
  );
}

/** A place for one file, with its name and size once it is there; `children` say what it may be. */
export const FileDrop = ({ of, children, ...more }: { label: string; accept?: string; of: Signal<File | undefined>; children: ComponentChildren }) => (
  <Drop {...more} onFiles={([first]) => first && (of.value = first)}>
    <p class="small">{of.value ? <><b>{of.value.name}</b>, {bytes(of.value.size)}</> : <>or drop it here: {children}</>}</p>
  </Drop>
);
