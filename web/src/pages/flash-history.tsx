// The flashes of a device before the last one.
import type { DevicesFlash } from "../api/schema.ts";
import { type Column, Table } from "../ui/table.tsx";
import { bytes } from "../ui/time.ts";
import { Ago } from "../ui/when.tsx";
import { Outcome } from "./flash-run.tsx";

const COLUMNS: readonly Column<DevicesFlash>[] = [
  { name: "File", cell: ({ artifact }) => <>{artifact.name}<span class="small mono">{artifact.sha256.slice(0, 12)}</span></> },
  { name: "Outcome", cell: (flash) => <Outcome flash={flash} /> },
  { name: "What happened", wide: true, cell: ({ error, chip, target }) => error ?? chip ?? target },
  { name: "Data", right: true, wideScreensOnly: true, cell: ({ bytes: long }) => <span class="number">{long === undefined ? "–" : bytes(long)}</span> },
  { name: "Took", right: true, wideScreensOnly: true, cell: ({ duration_ms }) => <span class="number">{duration_ms === undefined ? "–" : `${(duration_ms / 1000).toFixed(1)} s`}</span> },
  { name: "Begun", right: true, cell: ({ created_at }) => <Ago iso={created_at} /> },
];

export const FlashHistory = ({ flashes }: { flashes: readonly DevicesFlash[] }) => (
  <section aria-labelledby="flash-history">
    <h2 id="flash-history">Earlier flashes</h2>
    <Table label="Earlier flashes" rows={flashes} columns={COLUMNS} keyOf={({ id }) => id} />
    <p class="small">The server keeps the last 16, until it is restarted.</p>
  </section>
);
