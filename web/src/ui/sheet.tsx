// A sheet before the page, for making or changing one thing. The browser's own dialog: it keeps the focus inside and gives it back.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Action } from "../api/action.ts";
import { Button, Submit } from "./button.tsx";
import { Trouble } from "./states.tsx";

export function Sheet({ title, onClose, children, mustConfirm = false }: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Escape does not close it: something in it is shown only once. */
  mustConfirm?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current!.showModal();
    // The attribute `autofocus` would be for the page, which has its focus already.
    dialog.current!.querySelector<HTMLElement>("[data-first]")?.focus();
  }, []);
  return (
    <dialog ref={dialog} class="sheet" aria-labelledby={id} onCancel={(event) => {
      event.preventDefault();
      if (!mustConfirm) onClose();
    }}>
      <div class="sheet-head">
        <h2 id={id}>{title}</h2>
        {!mustConfirm && <Button icon="cross" label="Close" hidden onClick={onClose} />}
      </div>
      {children}
    </dialog>
  );
}

/** A sheet that is a form: it closes itself when its action has succeeded. */
export function FormSheet({ title, submit, kind = "main", action, disabled = false, onSubmit = () => action.run(), onClose, children }: {
  title: string;
  submit: string;
  kind?: "main" | "danger";
  action: Action<[]>;
  disabled?: boolean;
  /** What is done before it, or in place of it; resolves to whether it succeeded. */
  onSubmit?: () => Promise<boolean>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  return (
    <Sheet title={title} onClose={onClose}>
      <form class="stack" onSubmit={(event) => {
        event.preventDefault();
        void onSubmit().then((done) => done && onClose());
      }}>
        {children}
        <Trouble failure={action.failure.value} />
        <div class="sheet-end">
          <Button label="Cancel" onClick={onClose} />
          <Submit label={submit} busy={action.busy.value} disabled={disabled} kind={kind} />
        </div>
      </form>
    </Sheet>
  );
}
