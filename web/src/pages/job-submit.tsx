// A pipeline is written, checked by the server while one types, and submitted: alone, or with its sources.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { useAsked } from "../api/asked.ts";
import { call, sentence, url } from "../api/client.ts";
import { refresh } from "../api/resource.ts";
import type { JobsSubmitted } from "../api/schema.ts";
import { useUpload } from "../api/upload.ts";
import { Editor, type EditorHandle } from "../job/editor.tsx";
import { Here } from "../job/here.tsx";
import { TEMPLATES } from "../job/templates.ts";
import { navigate, query, setQuery } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { FileDrop } from "../ui/drop.tsx";
import { Field } from "../ui/field.tsx";
import { Head } from "../ui/head.tsx";
import { Icon } from "../ui/icon.tsx";
import { Sent } from "../ui/progress.tsx";
import { Trouble } from "../ui/states.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { several } from "../ui/time.ts";

/** What was written and not submitted stays in this browser. */
const DRAFT = "hostd-pipeline";
const USUAL_PATH = "pipeline.yml";
const TYPING_MS = 300;

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
      {hasName && <Field label="Name" of={name} hint="In place of the pipeline's" wrong={wrong["name"]} />}
      <Field label="Ref" of={ref} placeholder="main" hint="Secrets and caches go by it" wrong={wrong["ref"]} />
      <Field label="Commit" of={commit} wrong={wrong["commit"]} />
    </div>
  );
  return { given, fields };
}

function begun({ id }: JobsSubmitted): void {
  refresh("jobs");
  navigate(`/jobs/${id}`);
}

function Written() {
  const text = useSignal(localStorage.getItem(DRAFT) ?? TEMPLATES[0]!.text);
  const own = useSignal<string | undefined>(undefined);
  const caret = useSignal(0);
  const handle = useRef<EditorHandle>(null);
  const about = useAbout();
  const { ref } = about.given();
  const { data: found, failure: wrong } = useAsked(
    (signal) => (text.value.trim() === "" ? undefined : call("POST /jobs/check", { body: { definition: text.value, ref } }, signal)),
    [text.value, ref],
    TYPING_MS,
  );
  const submitting = useAction(async () => {
    const made = await call("POST /jobs/submit", { body: { definition: text.peek(), ...about.given() } });
    localStorage.removeItem(DRAFT);
    begun(made);
  });
  useEffect(() => localStorage.setItem(DRAFT, text.value), [text.value]);
  const { value: failure } = submitting.failure;
  const { problems } = failure?.problems.length ? failure : (wrong ?? { problems: [] });
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
        <Editor label="Pipeline" value={text.value} handle={handle} marked={new Set(problems.map(({ line }) => line))} onCaret={(at) => (caret.value = at)} onSubmit={submit} onInput={(next) => {
          text.value = next;
          submitting.forget();
        }} />
      </div>
      <div class="stack">
        <section aria-label="Check" aria-live="polite">
          <h2>{problems.length > 0 ? several(problems.length, "problem") : found ? "No mistakes" : wrong ? "Not checked" : "Checking…"}</h2>
          {wrong && problems.length === 0 && <p class="small">{wrong.message} It is checked when it is submitted.</p>}
          {found && problems.length === 0 && <p class="small">It comes to {several(found.runs.length, "run")}: {found.runs.map(({ id }) => id).join(", ")}.</p>}
          {found?.warnings.map(({ run, message }, i) => <p key={i} class="warning"><Icon name="warning" /><span>{run && <b>{run}: </b>}{message}</span></p>)}
          <ul class="problems">{problems.map(({ line, message }, i) => <li key={i}><button type="button" onClick={() => handle.current?.show(line)}><b>Line {line} </b>{sentence(message)}</button></li>)}</ul>
        </section>
        {failure?.problems.length === 0 && <Trouble failure={failure} />}
        {about.fields(failure?.fields ?? {}, true)}
        <div><Button kind="main" label="Submit" title="Ctrl or ⌘ with Enter" busy={submitting.busy.value} onClick={submit} /></div>
        <Here text={text.value} caret={caret.value} onPut={(name) => handle.current?.put(name)} />
      </div>
    </div>
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
  return (
    <form class="stack narrow" onSubmit={(event) => {
      event.preventDefault();
      void submitting.run();
    }}>
      <FileDrop label="Choose an archive" accept=".tar.gz,.tgz,.zip" of={file}>the sources with the pipeline among them, as .tar.gz or .zip</FileDrop>
      <Field label="Path of the pipeline in it" of={path} required wrong={failure?.fields["ci_yaml"]} />
      {about.fields(failure?.fields ?? {}, false)}
      <Sent by={sending} />
      <Trouble failure={failure} />
      <p class="small">From a checkout, <code>hostd submit {USUAL_PATH} --wait</code> does the same and leaves out what git ignores.</p>
      <div><Button type="submit" kind="main" label="Submit" busy={submitting.busy.value} disabled={!file.value} /></div>
    </form>
  );
}
