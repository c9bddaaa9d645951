// How a live line stands: a WebSocket of `api/socket.ts`.
import type { Line } from "../api/socket.ts";
import { Badge } from "./badge.tsx";
import { useNow } from "./use-now.ts";

export function LineState({ line }: { line: Line }) {
  const now = useNow(line.state === "lost" ? 1000 : 0);
  if (line.state === "open") return <Badge tone="ok">Live</Badge>;
  if (line.state === "lost") return <Badge tone="warn">Reconnecting, lost {Math.round((now - line.since) / 1000)} s ago</Badge>;
  if (line.state === "closed") return <Badge tone="quiet">Closed{line.code === 1000 ? "" : ` (${line.code})`}</Badge>;
  return <Badge tone="quiet">Connecting…</Badge>;
}
