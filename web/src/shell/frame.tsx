// What every page stands in: the bar with the places, the account, what the server's silence means, toasts.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { lostSince } from "../api/client.ts";
import { readSession, session } from "../api/session.ts";
import { path } from "../router.ts";
import { CopySheet } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { rough } from "../ui/time.ts";
import { Toasts } from "../ui/toast.tsx";
import { useNow } from "../ui/use-now.ts";
import { Account } from "./account.tsx";
import { Boundary } from "./boundary.tsx";
import { ADMINISTRATION, HOME, MAIN, type Place } from "./routes.tsx";

export function Frame({ children }: { children: ComponentChildren }) {
  const content = useRef<HTMLDivElement>(null);
  const here = path.value;
  const first = useRef(true);

  useEffect(() => {
    if (!session.peek()) readSession().catch(() => undefined);
  }, []);
  // Another page was opened: what had the focus is gone with the old one, so the new one gets it.
  useEffect(() => {
    const isLost = document.activeElement === document.body || document.activeElement === null;
    if (!first.current && isLost) content.current!.focus({ preventScroll: true });
    first.current = false;
  }, [here]);

  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={(event) => {
        event.preventDefault();
        content.current!.focus();
      }}>Skip to the content</a>
      <header class="side-bar">
        <a class="mark" href={HOME}><svg viewBox="0 0 24 16" aria-hidden="true"><path d="M1 13h5V3h6v10h5V3h6" /></svg><span>hostd</span></a>
        <Places to={MAIN} label="Main" />
        {ADMINISTRATION.length > 0 && <Places to={ADMINISTRATION} label="Administration" />}
        <Account />
      </header>
      <div id="content" class="content" ref={content} tabIndex={-1}>
        <Lost />
        <Boundary at={here}>{children}</Boundary>
      </div>
      <Toasts />
      <CopySheet />
    </div>
  );
}

export const Places = ({ to, label }: { to: readonly Place[]; label: string }) => (
  <nav aria-label={label}>
    {to.map(({ to: href, name, icon }) => (
      <a key={href} href={href} aria-current={isBelow(path.value, href) ? "page" : undefined}><Icon name={icon} /><span>{name}</span></a>
    ))}
  </nav>
);

const isBelow = (here: string, place: string): boolean => here === place || here.startsWith(`${place}/`);

/** So long an answer may be missing before it is worth a line. */
const QUIET_MS = 1500;

function Lost() {
  const since = lostSince.value;
  const now = useNow(since === undefined ? 0 : 500);
  if (since === undefined || now - since < QUIET_MS) return null;
  return <p class="lost" role="status"><Icon name="warning" /> The server has not answered for {rough((now - since) / 1000)}. It is tried again.</p>;
}
