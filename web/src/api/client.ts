// The API as typed functions: `call("GET /bench/devices")`. Errors are `Failure`, with the server's own sentence.
import { signal } from "@preact/signals";
import { navigate } from "../router.ts";
import type { Error as Refusal, Operations } from "./schema.ts";

export type Endpoint = keyof Operations;
export type Answer<E extends Endpoint> = Operations[E]["answer"];

/** Members that an endpoint has none of are left out. */
export type Given<E extends Endpoint> = Optional<"path", Operations[E]["path"]> & Optional<"query", Sent<Operations[E]["query"]>> & Optional<"body", Sent<Operations[E]["body"]>>;
/** What is undefined is not sent. */
type Sent<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]: Record<string, never> extends Pick<T, K> ? Sent<T[K]> | undefined : Sent<T[K]> } : T;
type Optional<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : Record<string, never> extends T
    ? { [K in Name]?: T }
    : { [K in Name]: T };

export class Failure extends Error {
  /** The status of the answer; 0 when there was none. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  /** What the server said about the fields of a form, by their names. */
  readonly fields: Readonly<Record<string, string>>;
  /** What it said about a text that a person wrote, with lines. */
  readonly problems: NonNullable<Refusal["problems"]>;
  readonly refusal: Partial<Refusal>;

  constructor(status: number, refusal: Partial<Refusal>) {
    super(sentence(refusal.error ?? (status === 0 ? "the server cannot be reached" : `the server answered with status ${status}`)));
    this.status = status;
    this.code = refusal.code ?? "no_answer";
    this.requestId = refusal.request_id ?? "";
    this.fields = Object.fromEntries((refusal.fields ?? []).map(({ field, message }) => [field, message]));
    this.problems = refusal.problems ?? [];
    this.refusal = refusal;
  }
}

/** The server's sentences are written to follow "failed to …": here they stand alone. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

export const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure(0, { error: error instanceof Error ? error.message : String(error), code: "page_error" });

/** Since when requests have had no answer, in milliseconds of the page's clock; undefined while the server answers. */
export const lostSince = signal<number | undefined>(undefined);

let ahead = 0;

/** The time of the server, as far as its last answer says it: clocks of benches and of people differ. */
export const serverNow = (): number => Date.now() + ahead;

export function url(endpoint: Endpoint, path: object = {}, query: object = {}): string {
  const filled = endpoint.slice(endpoint.indexOf(" ") + 1).replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String((path as Record<string, unknown>)[name])));
  const members = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return `/api${filled}${members.length ? `?${new URLSearchParams(members.map(([name, value]) => [name, String(value)]))}` : ""}`;
}

/** A call of an endpoint whose body and answer are JSON. */
export async function call<E extends Endpoint>(endpoint: E, given?: Given<E>, signal?: AbortSignal): Promise<Answer<E>> {
  const { path, query, body } = (given ?? {}) as { path?: object; query?: object; body?: unknown };
  const response = await request(url(endpoint, path, query), {
    method: endpoint.slice(0, endpoint.indexOf(" ")),
    headers: { accept: "application/json", ...(body !== undefined && { "content-type": "application/json" }) },
    body: JSON.stringify(body) ?? null,
    signal: signal ?? null,
  });
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as Answer<E>;
}

/** For bodies and answers that are no JSON. Sign-in is asked for where the session is over. */
export async function request(address: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    lostSince.value ??= performance.now();
    throw new Failure(0, {});
  }
  // A proxy answers in the place of a server that does not.
  if (response.status === 502 || response.status === 504) {
    lostSince.value ??= performance.now();
    throw new Failure(0, {});
  }
  lostSince.value = undefined;
  const date = response.headers.get("date");
  // To the second: less than that is no difference.
  if (date) ahead = Math.abs(Date.parse(date) - Date.now()) < 1500 ? 0 : Date.parse(date) - Date.now();
  if (response.ok) return response;
  const refusal = (await response.json().catch(() => ({}))) as Partial<Refusal>;
  if (response.status === 401 && location.pathname !== "/sign-in")
    navigate(`/sign-in?to=${encodeURIComponent(location.pathname + location.search + location.hash)}`, "replace");
  throw new Failure(response.status, refusal);
}

/** Lines of a streamed answer, in batches as they arrive. */
export async function* lines(response: Response): AsyncGenerator<readonly string[]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop()!;
    if (parts.length) yield parts;
  }
  if (rest) yield [rest];
}
