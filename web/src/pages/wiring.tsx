// What the channels of a device are wired to, and how its target is supplied.
import { useState } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { call } from "../api/client.ts";
import { refresh, useGet } from "../api/resource.ts";
import type { DevicesDevice, DevicesWiring } from "../api/schema.ts";
import { isAtLeast } from "../api/session.ts";
import { type Profile, isSame, rewired, usesOf, wired } from "../model/wiring.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, Submit } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded, Trouble } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { obstacle } from "./device-state.tsx";
import { WiringChannels } from "./wiring-channels.tsx";
import { WiringTarget } from "./wiring-target.tsx";

export function WiringTab({ device }: { device: DevicesDevice }) {
  const wiring = useGet(`wiring ${device.id}`, "GET /bench/devices/{id}/wiring/profile", { path: { id: device.id } });
  return <Loaded resource={wiring} rows={8}>{(known) => <WiringForm device={device} known={known} onSaved={() => wiring.reload()} />}</Loaded>;
}

function WiringForm({ device, known, onSaved }: { device: DevicesDevice; known: DevicesWiring; onSaved: () => Promise<void> }) {
  const stored = known.profile as Profile;
  const [edited, edit] = useState<Profile | undefined>();
  const profile = edited ?? stored;
  const uses = usesOf(profile);
  const changed = edited !== undefined && !isSame(edited, stored);
  const saving = useAction(async () => {
    await call("PUT /bench/devices/{id}/wiring", { path: { id: device.id }, body: profile });
    await onSaved();
    refresh(`device ${device.id}`);
    edit(undefined);
    toast("The wiring is stored");
  });
  const wrong = saving.failure.value?.fields ?? {};
  // Meanwhile only its holder and administrators change how it is wired.
  const held = device.lease && !isAtLeast("admin") ? obstacle(device) : undefined;
  const change = (members: Partial<Profile>): void => edit({ ...profile, ...members });
  return (
    <form class="wiring" onSubmit={(event) => {
      event.preventDefault();
      void saving.run();
    }}>
      <div class="bar-above">
        {known.stored ? <Badge tone="ok">Stored</Badge> : <Badge tone="quiet">Defaults</Badge>}
        <span class="quiet grow">{held ?? (known.stored ? "Flashes, consoles, captures and jobs use this." : "Nothing is stored: this is what devices are taken to be wired as.")}</span>
        <Button label="Defaults" disabled={isSame(profile, known.defaults)} title="Fill in what devices are taken to be wired as" onClick={() => edit(known.defaults as Profile)} />
        <Button label="Undo" disabled={!changed} onClick={() => edit(undefined)} />
        <Submit label="Store" busy={saving.busy.value} disabled={!changed || held !== undefined} />
      </div>
      <Trouble failure={saving.failure.value} />
      {!changed && known.warnings.map((warning) => <p key={warning} class="warning"><Icon name="warning" /> {warning}</p>)}
      <div class="wiring-parts">
        <section class="card" aria-labelledby="wiring-target">
          <h2 id="wiring-target">Target</h2>
          <WiringTarget profile={profile} wrong={wrong} onChange={change} />
        </section>
        <section aria-labelledby="wiring-channels">
          <h2 id="wiring-channels">Channels</h2>
          <WiringChannels uses={uses} onChange={(channel, use) => change(wired(profile, rewired(uses, channel, use)))} />
        </section>
      </div>
    </form>
  );
}
