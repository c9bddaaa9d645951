// Fields of forms: a label, the control, a hint, and what the server said about it.
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Common {
  label: string;
  hint?: ComponentChildren;
  /** What is wrong with it; `failure.fields[name]` has the server's words. */
  wrong?: string | undefined;
}

/** Where a value is kept: a signal, or what is given with what is done when it changes. */
type Kept<T, Name extends string, On extends string> = ({ of: Signal<T> } & { [K in Name | On]?: undefined }) | ({ of?: undefined } & { [K in Name]: T } & { [K in On]: (value: T) => void });

const Around = ({ id, label, hint, wrong, children }: Common & { id: string; children: ComponentChildren }) => (
  <div class={wrong ? "field wrong" : "field"}>
    <label for={id}>{label}</label>
    {children}
    {hint && <p class="small" id={`${id}-hint`}>{hint}</p>}
    {wrong && <p class="fault" id={`${id}-wrong`} role="alert">{wrong}</p>}
  </div>
);

const described = (id: string, { hint, wrong }: Common) => ({
  id,
  "aria-invalid": wrong ? true : undefined,
  "aria-describedby": [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(" ") || undefined,
});

export interface FieldProps extends Common {
  placeholder?: string | undefined;
  type?: "text" | "password" | "number" | "datetime-local" | "url" | "email";
  autocomplete?: string;
  required?: boolean;
  disabled?: boolean;
  min?: number;
  max?: number;
  step?: number | "any";
  maxLength?: number;
  unit?: string;
  /** It has the focus when its sheet opens. */
  first?: boolean;
  /** What is offered while one types; anything else may be typed, too. */
  suggestions?: readonly string[];
}

export function Field({ label, hint, wrong, of, value = of?.value, onInput = (text) => (of!.value = text), type = "text", unit, autocomplete = "off", first, suggestions, ...more }: FieldProps & Kept<string, "value", "onInput">) {
  const id = useId();
  const common = { label, hint, wrong };
  const input = <input {...described(id, common)} type={type as "text"} value={value} autoComplete={autocomplete} data-first={first ? "" : undefined} list={suggestions && `${id}-list`} onInput={(event) => onInput(event.currentTarget.value)} {...(more as object)} />;
  return (
    <Around id={id} {...common}>
      {unit ? <span class="with-unit">{input}<span class="quiet">{unit}</span></span> : input}
      {suggestions && <datalist id={`${id}-list`}>{suggestions.map((one) => <option key={one} value={one} />)}</datalist>}
    </Around>
  );
}

export interface Option {
  readonly value: string;
  readonly name: string;
  readonly disabled?: boolean;
}

export function Choice({ label, hint, wrong, of, value = of?.value, onChange = (text) => (of!.value = text), options, required, disabled }: Common & Kept<string, "value", "onChange"> & {
  options: readonly (Option | string)[];
  required?: boolean;
  disabled?: boolean;
}) {
  const id = useId();
  const common = { label, hint, wrong };
  return (
    <Around id={id} {...common}>
      <select {...described(id, common)} value={value} required={required} disabled={disabled} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((one) => {
          const { value: itself, name, disabled: off } = typeof one === "string" ? { value: one, name: one, disabled: false } : one;
          return <option key={itself} value={itself} disabled={off} selected={itself === value}>{name}</option>;
        })}
      </select>
    </Around>
  );
}

export function Text({ label, hint, wrong, of, value = of?.value, onInput = (text) => (of!.value = text), rows = 6, mono = false, ...more }: Common & Kept<string, "value", "onInput"> & { rows?: number; mono?: boolean; required?: boolean; maxLength?: number; placeholder?: string }) {
  const id = useId();
  const common = { label, hint, wrong };
  return <Around id={id} {...common}><textarea {...described(id, common)} class={mono ? "mono" : ""} rows={rows} value={value} onInput={(event) => onInput(event.currentTarget.value)} {...more} /></Around>;
}

export const Check = ({ label, of, on = of?.value, onChange = (now) => (of!.value = now), disabled }: Kept<boolean, "on", "onChange"> & { label: ComponentChildren; disabled?: boolean }) => (
  <label class="check"><input type="checkbox" checked={on} disabled={disabled} onChange={(event) => onChange(event.currentTarget.checked)} /> {label}</label>
);
