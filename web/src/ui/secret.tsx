// A secret that is shown once: the sheet closes by saying that it was kept.
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Copyable } from "./copy.tsx";
import { Sheet } from "./sheet.tsx";

export const SecretOnce = ({ title, label, secret, say = "This is shown once. Keep it where your programs keep secrets.", onKept, children }: { title: string; label: string; secret: string; say?: string; onKept: () => void; children?: ComponentChildren }) => (
  <Sheet title={title} onClose={onKept} mustConfirm>
    <div class="stack">
      <p>{say}</p>
      <Copyable label={label} text={secret} />
      {children}
      <div class="sheet-end"><Button label="I have kept it" kind="main" onClick={onKept} /></div>
    </div>
  </Sheet>
);
