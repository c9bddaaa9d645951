// What cannot be undone: it says what stops working, and asks for the name of the thing.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { Field } from "./field.tsx";
import { FormSheet } from "./sheet.tsx";

export function ConfirmByName({ title, name, action = "Delete", onConfirm, onClose, children }: {
  title: string;
  /** What has to be typed. */
  name: string;
  action?: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  /** What stops working. */
  children: ComponentChildren;
}) {
  const [typed, type] = useState("");
  const doing = useAction(onConfirm);
  return (
    <FormSheet title={title} submit={action} kind="danger" action={doing} disabled={typed.trim() !== name} onClose={onClose}>
      {children}
      <Field label={`Type “${name}” to confirm`} value={typed} onInput={type} first />
    </FormSheet>
  );
}

/** What can be done again, at a price: a question and two buttons. */
export function Confirm({ title, action, onConfirm, onClose, children }: { title: string; action: string; onConfirm: () => Promise<unknown>; onClose: () => void; children: ComponentChildren }) {
  const doing = useAction(onConfirm);
  return (
    <FormSheet title={title} submit={action} kind="danger" action={doing} onClose={onClose}>
      {children}
    </FormSheet>
  );
}
