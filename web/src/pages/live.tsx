// The captures of a device while they are received.
import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { decodingText, parseDecoding } from "../model/decoding.ts";
import { query, setQuery } from "../router.ts";
import type { Socket } from "../api/socket.ts";
import { Head } from "../ui/head.tsx";
import { LineState } from "../ui/line-state.tsx";
import { Empty } from "../ui/states.tsx";
import { type Following, followLive } from "../viewer/live.ts";
import { Shown } from "../viewer/shown.tsx";
import type { Viewer } from "../viewer/viewer.ts";
import { useDevices } from "./devices.tsx";

export default function LivePage() {
  const device = query.value.get("device") ?? "";
  const devices = useDevices();
  const [socket, connect] = useState<Socket | undefined>();
  const [viewer, show] = useState<Viewer | undefined>();
  const decoders = query.value.getAll("decoder");
  const [last, end] = useState<Following["last"]>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    const begin = (made: Viewer): void => {
      // What decodes one capture decodes the next one, too.
      for (const decoding of query.peek().getAll("decoder")) made.addDecoder(parseDecoding(decoding));
      show(made);
    };
    connect(followLive(device, { show: begin, ended: end }, stop.signal));
    return () => stop.abort();
  }, [device]);
  useEffect(() => viewer && effect(() => setQuery({ decoder: viewer.decoders.value.map(({ decoding }) => decodingText(decoding)) })), [viewer]);
  const name = devices.data.value?.devices.find(({ id }) => id === device)?.name ?? "Device";
  const line = socket && <LineState line={socket.line.value} />;
  const stored = last && <a class="button main" href={`/captures/${last.id}${decoders.length > 0 ? `?${new URLSearchParams(decoders.map((one) => ["decoder", one]))}` : ""}`}>{last.status === "done" ? "Open the capture" : "See what happened"}</a>;
  if (viewer) return <Shown key={viewer.capture} viewer={viewer} title={`${name}, live`} note={line} actions={stored} keepsAddress={false} />;
  return (
    <main class="page">
      <Head title={`${name}, live`} note={line}>{stored}</Head>
      {device === ""
        ? <Empty icon="live" title="Which device?"><p><a href="/devices">Choose one</a> and watch its captures live.</p></Empty>
        : <Empty icon="live" title="Waiting for a capture"><p>The next capture of this device is shown while it is received, whoever starts it.</p><a class="button" href={`/devices/${device}/captures?sheet=start`}>Start a capture</a></Empty>}
    </main>
  );
}
