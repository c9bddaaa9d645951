// A pipeline is written, checked while one types as far as its schema goes, and submitted: alone, or with its sources.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { call, url } from "../api/client.ts";
import { refresh, useResource } from "../api/resource.ts";
import type { JobsSubmitted } from "../api/schema.ts";
import { useUpload } from "../api/upload.ts";
import { Editor, type EditorHandle } from "../job/editor.tsx";
import { TEMPLATES } from "../job/templates.ts";
import { type Kind, kindAt, namedIn } from "../model/named.ts";
import { type Fault, faultsOf } from "../model/rules.ts";
import { Checker, type Schema } from "../model/schema.ts";
import { type Parsed, YamlError, parseYaml } from "../model/yaml.ts";
import { navigate, query, setQuery } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { Drop } from "../ui/drop.tsx";
import { Field } from "../ui/field.tsx";
import { Head } from "../ui/head.tsx";
import { Faults } from "../ui/faults.tsx";
import { Progress } from "../ui/progress.tsx";
import { Trouble } from "../ui/states.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { bytes, several } from "../ui/time.ts";
import { useDevices } from "./devices.tsx";

/** What was written and not submitted stays in this browser. */
const DRAFT = "hostd-pipeline";
const USUAL_PATH = "pipeline.yml";

export default function JobSubmitPage() {
  const withSources = query.value.get("with") === "sources";
  return (
    <main class="page submit">
      <Head title="Submit a pipeline" note={<a href="/jobs">Jobs</a>} />
      <Tabs label="What is submitted" tabs={[{ id: "alone", name: "Write it here" }, { id: "sources", name: "With sources" }]} current={withSources ? "sources" : "alone"} onChoose={(id) => setQuery({ with: id === "sources" ? id : undefined })} />
      {withSources ? <WithSources /> : <Written />}
    </main>
  );
}

/** Name, ref and commit, which both ways have. */
function useAbout() {
  const [name, ref, commit] = [useSignal(""), useSignal(""), useSignal("")];
  const given = (): Record<string, string> => Object.fromEntries(Object.entries({ name: name.value, ref: ref.value, commit: commit.value }).flatMap(([key, value]) => (value.trim() ? [[key, value.trim()]] : [])));
  const fields = (wrong: Readonly<Record<string, string>>, hasName: boolean) => (
    <div class="columns">
      {hasName && <Field label="Name" value={name.value} onInput={(text) => (name.value = text)} hint="In place of the pipeline's" wrong={wrong["name"]} />}
      <Field label="Ref" value={ref.value} placeholder="main" onInput={(text) => (ref.value = text)} hint="Secrets and caches go by it" wrong={wrong["ref"]} />
      <Field label="Commit" value={commit.value} onInput={(text) => (commit.value = text)} wrong={wrong["commit"]} />
    </div>
  );
  return { given, fields };
}

function begun({ id }: JobsSubmitted): void {
  refresh("jobs");
  navigate(`/jobs/${id}`);
}

/** Names of the organisation that a pipeline may name; undefined while they are not known. */
function useNames(): Readonly<Record<Kind, readonly string[] | undefined>> {
  const secrets = useResource("secrets", (signal) => call("GET /secrets", undefined, signal));
  const devices = useDevices();
  return { secret: secrets.data.value?.secrets.map(({ name }) => name), device: devices.data.value?.devices.map(({ name }) => name) };
}

/** A secret has to be there when a pipeline is submitted; for a device it waits. */
function unknownNames(parsed: Parsed | undefined, names: ReturnType<typeof useNames>): { readonly faults: readonly Fault[]; readonly notes: readonly Fault[] } {
  const unknown = parsed ? namedIn(parsed).filter(({ kind, name }) => !name.includes("{{") && names[kind]?.includes(name) === false) : [];
  const of = (kind: Kind, say: (name: string) => string): readonly Fault[] => unknown.filter((one) => one.kind === kind).map(({ name, path }) => ({ line: parsed!.lines.get(path), message: say(name) }));
  return { faults: of("secret", (name) => `There is no secret ${name}.`), notes: of("device", (name) => `There is no device ${name} now: a job waits until there is.`) };
}

interface Checked {
  readonly faults: readonly Fault[];
  readonly parsed: Parsed | undefined;
}

function checked(text: string, checker: Checker | undefined): Checked {
  try {
    const parsed = parseYaml(text);
    return { parsed, faults: checker && text.trim() !== "" ? faultsOf(parsed.lines, checker.check(parsed.value)) : [] };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { parsed: undefined, faults: [{ line: error.line, message: error.message }] };
  }
}

function Written() {
  const schema = useResource("pipeline schema", async (signal) => (await call("GET /jobs/schema.json", undefined, signal)) as unknown as Schema);
  const checker = useMemo(() => schema.data.value && new Checker(schema.data.value), [schema.data.value]);
  const text = useSignal(localStorage.getItem(DRAFT) ?? TEMPLATES[0]!.text);
  const own = useSignal<string | undefined>(undefined);
  const line = useSignal(1);
  const handle = useRef<EditorHandle>(null);
  const about = useAbout();
  const names = useNames();
  const now = useMemo(() => checked(text.value, checker), [text.value, checker]);
  const submitting = useAction(async () => {
    const made = await call("POST /jobs/submit", { body: { definition: text.peek(), ...about.given() } });
    localStorage.removeItem(DRAFT);
    begun(made);
  });
  useEffect(() => localStorage.setItem(DRAFT, text.value), [text.value]);
  const { value: failure } = submitting.failure;
  const told: readonly Fault[] = failure?.refusal.problems?.map(({ line: at, message }) => ({ line: at, message: message.charAt(0).toUpperCase() + message.slice(1) })) ?? [];
  const unknown = unknownNames(now.parsed, names);
  const faults = told.length > 0 ? told : [...now.faults, ...unknown.faults];
  const submit = (): void => void submitting.run();
  /** What a person wrote is kept while an example stands in its place. */
  const replace = (next: string): void => {
    const isOwn = text.peek().trim() !== "" && !TEMPLATES.some(({ text: template }) => template === text.peek());
    own.value = isOwn ? text.peek() : next === own.peek() ? undefined : own.peek();
    text.value = next;
    submitting.forget();
  };
  return (
    <div class="writing">
      <div class="stack">
        <div class="bar-above">
          <span class="small">Examples</span>
          {TEMPLATES.map(({ id, name, text: template }) => <Button key={id} label={name} title={`Begin with the example “${name}”`} onClick={() => replace(template)} />)}
          {own.value !== undefined && <Button label="Back to mine" title="Take back what was written before" onClick={() => replace(own.value!)} />}
          <span class="grow" />
          <a class="small" href="/api/jobs/schema.json" target="_blank">JSON Schema for your editor</a>
        </div>
        <Editor label="Pipeline" value={text.value} handle={handle} marked={new Set(faults.flatMap((fault) => fault.line ?? []))} onLine={(at) => (line.value = at)} onSubmit={submit} onInput={(next) => {
          text.value = next;
          submitting.forget();
        }} />
      </div>
      <div class="stack">
        <section aria-label="Check" aria-live="polite">
          <h2>{faults.length === 0 ? "Nothing wrong so far" : several(faults.length, "problem")}</h2>
          {faults.length === 0 && <p class="small">{checker ? "The server checks the rest when it is submitted: chips, which refs may use a secret, names that refer to each other." : "The check is being read."}</p>}
          {unknown.notes.map(({ line: at, message }, i) => <p key={i} class="small">{at !== undefined && <b>Line {at} </b>}{message}</p>)}
          <ul class="problems">{faults.map(({ line: at, message }, i) => <li key={i}><button type="button" disabled={at === undefined} onClick={() => handle.current?.show(at!)}>{at !== undefined && <b>Line {at} </b>}{message}</button></li>)}</ul>
        </section>
        {failure && told.length === 0 && <Trouble failure={failure} />}
        {about.fields(failure?.fields ?? {}, true)}
        <div><Button kind="main" label="Submit" title="Ctrl or ⌘ with Enter" busy={submitting.busy.value} onClick={submit} /></div>
        {checker && now.parsed && <Here checker={checker} parsed={now.parsed} line={line.value} names={names} onPut={(name) => handle.current?.put(name)} />}
      </div>
    </div>
  );
}

/** What may stand where the caret is. */
function Here({ checker, parsed, line, names, onPut }: { checker: Checker; parsed: Parsed; line: number; names: ReturnType<typeof useNames>; onPut: (name: string) => void }) {
  // The last path that begins on or before the line; of a value without keys, what holds it.
  let path = "";
  for (const [one, at] of parsed.lines) if (at <= line && at >= (parsed.lines.get(path) ?? 0)) path = one;
  const isLeaf = (checker.describe(path)?.keys.length ?? 0) === 0;
  const parent = isLeaf ? path.replace(/(?:\.[^.[]*|\[\d+\]|^[^.[]+)$/, "") : path;
  const [own, around] = [checker.describe(path), checker.describe(parent)];
  const kind = kindAt(path);
  const offered = kind && names[kind];
  if (!around && !offered) return null;
  return (
    <section aria-label="What may stand here" class="here">
      <h2 class="mono">{path || "pipeline"}</h2>
      <p class="small">{own?.description}</p>
      {offered && <div class="tools" role="group" aria-label={kind === "secret" ? "Secrets" : "Devices"}>{offered.length === 0 ? <span class="small">There is none yet.</span> : offered.map((name) => <Button key={name} label={name} title={`Put ${name} at the caret`} onClick={() => onPut(name)} />)}</div>}
      {around && around.keys.length > 0 && <dl tabIndex={0} aria-label="Keys">{around.keys.map(({ name, description, isRequired }) => <><dt key={name}>{name}{isRequired && <span class="small"> required</span>}</dt><dd>{description}</dd></>)}</dl>}
    </section>
  );
}

function WithSources() {
  const file = useSignal<File | undefined>(undefined);
  const path = useSignal(USUAL_PATH);
  const about = useAbout();
  const sending = useUpload();
  const submitting = useAction(async () => {
    const form = new FormData();
    form.set("archive", file.peek()!);
    form.set("ci_yaml", path.peek().trim());
    for (const [name, value] of Object.entries(about.given())) form.set(name, value);
    begun(await sending.send<JobsSubmitted>(url("POST /jobs/submit"), form));
  });
  const { value: failure } = submitting.failure;
  const problems = failure?.refusal.problems ?? [];
  return (
    <form class="stack narrow" onSubmit={(event) => {
      event.preventDefault();
      void submitting.run();
    }}>
      <Drop label="Choose an archive" accept=".tar.gz,.tgz,.zip" onFiles={([first]) => (file.value = first ?? file.value)}>
        <p class="small">{file.value ? `${file.value.name}, ${bytes(file.value.size)}` : "or drop it here: the sources with the pipeline among them, as .tar.gz or .zip"}</p>
      </Drop>
      <Field label="Path of the pipeline in it" value={path.value} onInput={(text) => (path.value = text)} required wrong={failure?.fields["ci_yaml"]} />
      {about.fields(failure?.fields ?? {}, false)}
      {sending.share.value !== undefined && <Progress label="Sent" share={sending.share.value} />}
      {failure && (problems.length > 0
        ? <Faults faults={problems} />
        : <Trouble failure={failure} />)}
      <p class="small">From a checkout, <code>hostd submit {USUAL_PATH} --wait</code> does the same and leaves out what git ignores.</p>
      <div><Button type="submit" kind="main" label="Submit" busy={submitting.busy.value} disabled={!file.value} /></div>
    </form>
  );
}
