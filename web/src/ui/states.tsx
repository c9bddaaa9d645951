// What a page shows while it has nothing else: loading, empty, failed, forbidden, out of reach.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Failure } from "../api/client.ts";
import type { Resource } from "../api/resource.ts";
import { Button } from "./button.tsx";
import { Faults } from "./faults.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { rough } from "./time.ts";
import { useNow } from "./use-now.ts";

/** Grey bars where something will be, once it has taken long enough to be noticed. */
const NOTICED_MS = 150;

export function Skeleton({ rows = 3 }: { rows?: number }) {
  const [shown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), NOTICED_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {shown && Array.from({ length: rows }, (_, i) => <div key={i} class="bar" />)}
    </div>
  );
}

/** Nothing is there yet: what it would be, and how to get it. */
export const Empty = ({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <Icon name={icon} />
    <h2>{title}</h2>
    {children}
  </div>
);

/** What the server said, and how to find it in its log: nothing where nothing went wrong. A right that is missing is no fault, and looks like none. */
export function Trouble({ failure, again }: { failure: Failure | undefined; again?: (() => void) | undefined }) {
  if (!failure) return null;
  if (failure.problems.length > 0) return <Faults problems={failure.problems} />;
  const forbidden = failure.status === 403;
  return (
    <div class={forbidden ? "trouble forbidden" : "trouble"} role="alert">
      <Icon name={forbidden ? "lock" : "warning"} />
      <div>
        <p>{failure.message}</p>
        <p class="small">
          {forbidden && "Ask an administrator of your organisation. "}
          {failure.code}
          {failure.requestId && <> · request <code>{failure.requestId}</code></>}
        </p>
      </div>
      {again && !forbidden && <Button label="Try again" onClick={again} />}
    </div>
  );
}

/** The frame around what is read: a skeleton until it is there, what went wrong, and then the thing itself, which stays. */
export function Loaded<T>({ resource, rows, children }: { resource: Resource<T>; rows?: number; children: (data: T) => ComponentChildren }) {
  const data = resource.data.value;
  const failure = resource.failure.value;
  const again = (): void => void resource.reload();
  if (data === undefined) return failure ? <Trouble failure={failure} again={again} /> : <Skeleton {...(rows ? { rows } : {})} />;
  return (
    <>
      {failure && failure.code !== "no_answer" && <Trouble failure={failure} again={again} />}
      {failure && <Stale since={resource.at.value} />}
      {children(data)}
    </>
  );
}

function Stale({ since }: { since: number }) {
  const now = useNow(1000);
  return <p class="stale" role="status">Shown as it was {rough((now - since) / 1000)} ago.</p>;
}
