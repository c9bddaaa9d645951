// A place for files: dropped, or chosen with a button.
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

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
