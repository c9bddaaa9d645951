// The sheet in which a person sets their password.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { Field } from "../ui/field.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { toast } from "../ui/toast.tsx";

const SHORTEST = 10;

export function PasswordSheet({ onClose }: { onClose: () => void }) {
  const [old, fresh] = [useSignal(""), useSignal("")];
  const setting = useAction(async () => {
    await call("PUT /auth/password", { body: { new: fresh.value, old: old.value || undefined } });
    toast("The password is set. Your other sessions have ended");
  });
  const wrong = setting.failure.value?.fields ?? {};
  return (
    <FormSheet title="Set your password" submit="Set it" action={setting} disabled={fresh.value.length < SHORTEST} onClose={onClose}>
      <Field label="Password until now" type="password" autocomplete="current-password" of={old} maxLength={256} hint="Empty if you have none yet." wrong={wrong["old"]} />
      <Field label="New password" type="password" autocomplete="new-password" of={fresh} maxLength={256} hint="At least 10 characters. All your other sessions end." wrong={wrong["new"]} />
    </FormSheet>
  );
}
