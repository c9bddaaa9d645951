// Boards and what was found in them: projects beside the newest version of the one that is looked at.
import { useSignal } from "@preact/signals";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { usePages } from "../api/pages.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { EmiProject, EmiReceived, EmiRun } from "../api/schema.ts";
import { useUpload } from "../api/upload.ts";
import { navigate, query, setQuery } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmByName } from "../ui/confirm.tsx";
import { FileDrop } from "../ui/drop.tsx";
import { Choice, Field } from "../ui/field.tsx";
import { Head } from "../ui/head.tsx";
import { Sent } from "../ui/progress.tsx";
import { FormSheet } from "../ui/sheet.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { More } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { Ago } from "../ui/when.tsx";
import { BoardRun } from "./board-run.tsx";

export default function BoardsPage({ id }: { id?: string }) {
  const projects = usePages("emi projects", async (cursor, signal) => {
    const { projects: rows, next } = await call("GET /emi/projects", { query: cursor ? { cursor } : {} }, signal);
    return { rows, next };
  }, 10_000);
  const all = projects.rows;
  const chosen = id === undefined ? all[0] : all.find((one) => one.id === id);
  return (
    <main class="page boards">
      <Head title="Boards"><Button icon="plus" label="New project" kind="main" onClick={() => setQuery({ sheet: "project" })} /></Head>
      <Loaded resource={projects.first} rows={4}>
        {() => all.length === 0 ? <Empty icon="board" title="No boards yet"><p>Make a project, and send a board of KiCad or a zip of Gerbers: known mistakes that make it radiate are marked in its picture.</p></Empty> : (
          <div class="beside">
            <nav aria-label="Projects" class="items">
              {all.map((one) => <a key={one.id} href={`/boards/${one.id}`} aria-current={one.id === chosen?.id ? "page" : undefined}><b>{one.name}</b><span class="small"><Ago iso={one.created_at} /></span></a>)}
              <More pages={projects} />
            </nav>
            {chosen ? <Project key={chosen.id} project={chosen} /> : <Empty icon="board" title="No such project"><p>It was deleted, or is further down in the list.</p></Empty>}
          </div>
        )}
      </Loaded>
      {query.value.get("sheet") === "project" && <ProjectSheet onClose={() => setQuery({ sheet: undefined })} />}
    </main>
  );
}

function ProjectSheet({ onClose }: { onClose: () => void }) {
  const name = useSignal("");
  const making = useAction(async () => {
    const made = await call("POST /emi/projects", { body: { name: name.value.trim() } });
    refresh("emi projects");
    navigate(`/boards/${made.id}`);
  });
  return (
    <FormSheet title="New project" submit="Make it" action={making} disabled={name.value.trim() === ""} onClose={onClose}>
      <Field first label="Name" of={name} placeholder="sensor" hint="A project is for the versions of one board." wrong={making.failure.value?.fields["name"]} />
    </FormSheet>
  );
}

const nameOfRun = ({ kind }: EmiRun): string => ({ ingest: "All rules", compliance: "Against limits", cable: "Cables", solve: "Field solver" })[kind];

function Project({ project }: { project: EmiProject }) {
  const runs = useGet(`emi runs ${project.id}`, "GET /emi/projects/{id}/runs", { path: { id: project.id } }, 5000);
  const removing = useSignal(false);
  const sheet = query.value.get("sheet");
  const [asked, against] = [query.value.get("run"), query.value.get("against")];
  return (
    <section class="stack" aria-labelledby="project">
      <div class="section-head">
        <h2 id="project">{project.name}</h2>
        <div class="actions">
          <Button icon="trash" label="Delete the project" hidden onClick={() => (removing.value = true)} />
          <Button icon="upload" label="Send a board" onClick={() => setQuery({ sheet: "board" })} />
        </div>
      </div>
      <Loaded resource={runs} rows={4}>
        {({ runs: all }) => {
          const shown = all.find((run) => run.id === asked) ?? all[0];
          if (!shown) return <Empty icon="board" title="No board in this project"><p>Send a .kicad_pcb, a zip of a KiCad project, or a zip of Gerbers.</p></Empty>;
          // A comparison is of versions: each one's newest look by all rules.
          const others = shown.kind !== "ingest" ? [] : all.filter(({ kind, status, board_id }, i) => kind === "ingest" && status === "done" && board_id !== shown.board_id && all.findIndex((one) => one.board_id === board_id && one.kind === "ingest") === i);
          const other = others.find(({ board_id }) => board_id === against);
          return (
            <>
              <div class="columns">
                {all.length > 1 && <Choice label="Version" value={shown.id} options={all.map((run) => ({ value: run.id, name: `${new Date(run.created_at).toLocaleString()}, ${nameOfRun(run)}` }))} onChange={(run) => setQuery({ run, finding: undefined })} />}
                {others.length > 0 && <Choice label="Compared with" value={other?.board_id ?? ""} options={[{ value: "", name: "Nothing" }, ...others.map(({ board_id, created_at }) => ({ value: board_id, name: new Date(created_at).toLocaleString() }))]} onChange={(board) => setQuery({ against: board })} />}
              </div>
              <BoardRun key={shown.id} id={shown.id} against={other?.board_id} />
            </>
          );
        }}
      </Loaded>
      {sheet === "board" && <BoardSheet project={project} onSent={() => runs.reload()} onClose={() => setQuery({ sheet: undefined })} />}
      {removing.value && (
        <ConfirmByName title={`Delete ${project.name}`} name={project.name} onClose={() => (removing.value = false)} onConfirm={async () => {
          await call("DELETE /emi/projects/{id}", { path: { id: project.id } });
          refresh("emi projects");
          navigate("/boards");
        }}>
          <p>All its boards, runs and reports are gone, and builds that compare with them fail.</p>
        </ConfirmByName>
      )}
    </section>
  );
}

function BoardSheet({ project, onSent, onClose }: { project: EmiProject; onSent: () => Promise<void>; onClose: () => void }) {
  const file = useSignal<File | undefined>(undefined);
  const sending = useUpload();
  const running = useAction(async () => {
    const { name: filename, size: size_bytes } = file.peek()!;
    const place = await call("POST /emi/projects/{id}/uploads", { path: { id: project.id }, body: { filename, size_bytes } }, sending.signal);
    if (place.upload_url) {
      const { pathname, search } = new URL(place.upload_url, location.href);
      await sending.send<EmiReceived>(pathname + search, file.peek()!, { method: "PUT" });
    }
    await call("POST /emi/projects/{id}/boards", { path: { id: project.id }, body: { input_key: place.key } }, sending.signal);
    setQuery({ run: undefined, finding: undefined });
    await onSent();
    toast("The board is sent and will be analysed");
  });
  return (
    <FormSheet title={`Send a board to ${project.name}`} submit="Send and analyse" action={running} disabled={!file.value} onClose={onClose}>
      <FileDrop label="Choose a board" accept=".kicad_pcb,.zip" of={file}>.kicad_pcb, a zip of a KiCad project, or a zip of Gerbers with nets</FileDrop>
      <Sent by={sending} />
    </FormSheet>
  );
}
