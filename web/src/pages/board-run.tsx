// A run of a board: how far it is, then the picture and the table of findings, in step.
import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { call, request } from "../api/client.ts";
import { useGet, useResource } from "../api/resource.ts";
import type { EmiChange, EmiFinding, EmiRun } from "../api/schema.ts";
import type { Board } from "../model/board.ts";
import { type Change, changesOf, summaryOf } from "../model/board-changes.ts";
import { query, setQuery } from "../router.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Progress } from "../ui/progress.tsx";
import { Filter, passes } from "../ui/search.tsx";
import { Empty, Loaded, Trouble } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { several } from "../ui/time.ts";
import { BoardPicture } from "./board-picture.tsx";

const TONES = { critical: "bad", warning: "warn", info: "info" } as const;
const PAGE = 200;

const isOver = ({ status }: EmiRun): boolean => ["done", "failed", "timed_out"].includes(status);

/** Signed addresses name the server as the request did: only what is behind its name is used. */
async function fileOf(run: string, name: string, signal: AbortSignal): Promise<unknown> {
  const { url } = await call("GET /emi/runs/{id}/artifacts/{name}", { path: { id: run, name } }, signal);
  const { pathname, search } = new URL(url, location.href);
  return (await request(pathname + search, { signal, credentials: "omit" })).json();
}

/** `against` is an older version, by its board. */
export function BoardRun({ id, against }: { id: string; against?: string | undefined }) {
  const [over, end] = useState(false);
  const run = useResource(`emi run ${id}`, async (signal) => {
    const found = await call("GET /emi/runs/{id}", { path: { id } }, signal);
    end(isOver(found));
    return found;
  }, over ? 0 : 1000);
  const again = useAction(async () => {
    await call("POST /emi/runs/{id}/retry", { path: { id } });
    await run.reload();
  });
  return (
    <Loaded resource={run} rows={4}>
      {(known) => known.status === "done" ? <Found run={known} against={against} /> : isOver(known) ? (
        <Empty icon="warning" title={known.status === "timed_out" ? "It took too long" : "It failed"}>
          <p>{known.error}</p>
          <Trouble failure={again.failure.value} />
          <Button label="Run it again" action={again} />
        </Empty>
      ) : (
        <Empty icon="clock" title="The board is being analysed">
          <p>{known.progress.stage || "It waits for its turn"}{known.progress.message && `: ${known.progress.message}`}</p>
          <Progress label="Of the analysis" share={known.progress.pct / 100} />
        </Empty>
      )}
    </Loaded>
  );
}

const COLUMNS: readonly Column<EmiFinding>[] = [
  { name: "Finding", wide: true, cell: ({ id, title, rule }) => <button type="button" class="link" onClick={() => setQuery({ finding: id })}>{title}<span class="small">{rule}</span></button> },
  { name: "Severity", cell: ({ severity }) => <Badge tone={TONES[severity]}>{severity}</Badge> },
  { name: "Net", cell: ({ net }) => <span class="mono">{net || "–"}</span> },
  { name: "Layer", wideScreensOnly: true, cell: ({ layer }) => layer },
  { name: "What it is", wide: true, cell: ({ detail, assumed }) => <>{detail}{assumed.length > 0 && <span class="small"> Assumed: {assumed.join("; ")}.</span>}</> },
  { name: "Place", right: true, wideScreensOnly: true, cell: ({ at }) => <span class="number">{at.x.toFixed(1)}, {at.y.toFixed(1)}</span> },
];

/** What is gone is not in this version's picture, so it cannot be chosen. */
const GONE: readonly Column<EmiChange>[] = [
  { name: "Finding", wide: true, cell: ({ title, rule, certain }) => <>{title}<span class="small">{rule}{!certain && ", perhaps only not listed"}</span></> },
  ...COLUMNS.slice(1),
];

const Changed = ({ change }: { change: Change | undefined }) => {
  if (!change) return <span class="quiet">as before</span>;
  if (change.kind === "was") return <span class="small">was {change.was}</span>;
  return change.kind === "new" ? <Badge tone="bad">New</Badge> : <Badge tone="warn" title="One of the versions does not list all findings of this rule">Perhaps new</Badge>;
};

function Found({ run, against }: { run: EmiRun; against: string | undefined }) {
  const findings = useGet(`emi findings ${run.id}`, "GET /emi/runs/{id}/findings", { path: { id: run.id }, query: { limit: PAGE } });
  const board = useResource(`emi board ${run.id}`, (signal) => fileOf(run.id, "board.json", signal) as Promise<Board>);
  const diff = useResource(`emi diff ${run.board_id} ${against}`, async (signal) => (against === undefined ? undefined : call("GET /emi/boards/{id}/diff", { path: { id: run.board_id }, query: { against } }, signal)));
  const compared = diff.data.value;
  const changes = compared && changesOf(compared);
  const columns = changes ? [...COLUMNS.slice(0, 2), { name: "Compared", cell: ({ fingerprint }: EmiFinding) => <Changed change={changes.get(fingerprint)} /> }, ...COLUMNS.slice(2)] : COLUMNS;
  const chosen = query.value.get("finding") ?? undefined;
  const table = useRef<HTMLDivElement>(null);
  const { critical = 0, warning = 0, info = 0, complete } = run.summary ?? {};
  useEffect(() => table.current?.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <div class="stack">
      <p class="with-badge">
        <Badge tone={critical ? "bad" : "quiet"}>{critical} critical</Badge><Badge tone={warning ? "warn" : "quiet"}>{several(warning, "warning")}</Badge><Badge tone={info ? "info" : "quiet"}>{info} info</Badge>
        <Filter label="Filter findings" />
        <a class="button" href={`/tools/emi/${run.project_id}`} target="_blank"><Icon name="link" />Whole report</a>
      </p>
      <Trouble failure={diff.failure.value} again={() => void diff.reload()} />
      {compared && <p role="status"><b>{summaryOf(compared.summary)}</b></p>}
      {complete === false && <p class="warning"><Icon name="warning" /> The time was over before all rules had ended: there may be more.</p>}
      <Loaded resource={findings} rows={5}>
        {({ findings: all, next }) => {
          const shown = all.filter(({ title, rule, net, layer, severity, detail }) => passes(`${title} ${rule} ${net} ${layer} ${severity} ${detail}`));
          return (
            <>
              <Loaded resource={board} rows={6}>{(drawn) => <BoardPicture board={drawn} findings={shown} chosen={chosen} onChoose={(id) => setQuery({ finding: id })} />}</Loaded>
              <div ref={table}>
                {all.length === 0 ? <Empty icon="check" title="Nothing was found"><p>That is no pass: it takes a test chamber to say so.</p></Empty> : <Table label="Findings" rows={shown} columns={columns} keyOf={({ id }) => id} chosen={({ id }) => id === chosen} />}
              </div>
              {compared && compared.gone.length > 0 && <section aria-labelledby="gone"><h3 id="gone">Gone since the other version</h3><Table label="Gone" rows={compared.gone} columns={GONE} keyOf={({ fingerprint }) => fingerprint} /></section>}
              {next && <p class="small">The first {all.length} are shown; the whole report has the others.</p>}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}
