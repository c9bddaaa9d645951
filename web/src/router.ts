// Where the user is. The address is the only state that links carry, so pages keep what they show in it.
import { computed, signal } from "@preact/signals";

const here = signal(new URL(location.href));

export const path = computed(() => here.value.pathname);
export const query = computed(() => here.value.searchParams);

export function navigate(to: string, how: "push" | "replace" = "push"): void {
  const next = new URL(to, location.href);
  if (next.href === here.peek().href) return;
  history[how === "push" ? "pushState" : "replaceState"](null, "", next);
  here.value = next;
  if (how === "push" && !next.hash) scrollTo(0, 0);
}

/** Changes members of the query in place; `undefined` and "" remove one, an array gives one several times. */
export function setQuery(members: Readonly<Record<string, string | readonly string[] | undefined>>): void {
  const next = new URL(location.href);
  for (const [name, value] of Object.entries(members)) {
    next.searchParams.delete(name);
    for (const one of [value ?? []].flat()) if (one !== "") next.searchParams.append(name, one);
  }
  navigate(next.href, "replace");
}

/** Those of these members of the query that have a value. */
export const given = (names: readonly string[]): Readonly<Record<string, string>> => Object.fromEntries(names.flatMap((name) => [[name, query.value.get(name) ?? ""]].filter(([, value]) => value)));

/** An address with the query of this one, and a member more. */
export function withMember(pathname: string, name: string, value: string): string {
  const members = new URLSearchParams(query.peek());
  members.set(name, value);
  return `${pathname}?${members}`;
}

/** `match("/devices/:id", …)` is `{ id }`, or undefined. */
export function match(pattern: string, pathname: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split("/");
  const given = pathname.replace(/(.)\/$/, "$1").split("/");
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const text = decoded(given[i]!);
    if (text === undefined) return undefined;
    if (part.startsWith(":")) found[part.slice(1)] = text;
    else if (part !== text) return undefined;
  }
  return found;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Only a path of this server that a page of ours or the server shows: a link must not lead people away after they have signed in. */
export function ownPath(text: string | null, otherwise: string): string {
  if (text === null || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes("\\")) return otherwise;
  return text;
}

addEventListener("popstate", () => (here.value = new URL(location.href)));
addEventListener("hashchange", () => (here.value = new URL(location.href)));

// Links are plain links: the middle button, copying and screen readers work. Only an ordinary click stays in the page.
document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest?.("a");
  if (!link?.href || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href, location.href);
  const isOurs = url.origin === location.origin && !link.target && !link.hasAttribute("download") && !url.pathname.startsWith("/api/");
  if (!isOurs || (url.pathname === location.pathname && url.hash)) return;
  event.preventDefault();
  navigate(url.href);
});
