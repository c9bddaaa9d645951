// Who is signed in, and what they may do.
import { signal } from "@preact/signals";
import { call } from "./client.ts";
import { forgetAll } from "./resource.ts";
import type { AuthIdentity } from "./schema.ts";

/** Undefined until it is known. */
export const session = signal<AuthIdentity | undefined>(undefined);

export async function readSession(): Promise<void> {
  session.value = await call("GET /auth/session");
}

/** `keep` is what a person with a login of their own may want: to stay signed in. */
export type Credential = { readonly code: string } | { readonly login: string; readonly password: string };

export async function signIn(credential: Credential): Promise<void> {
  await call("POST /auth/session", { body: credential });
  forgetAll();
  await readSession();
}

const goodbyes: (() => Promise<unknown>)[] = [];

/** Is done before the session ends. */
export const beforeSignOut = (goodbye: () => Promise<unknown>): unknown => goodbyes.push(goodbye);

export async function signOut(): Promise<void> {
  await Promise.all(goodbyes.map((goodbye) => goodbye()));
  // First of all nothing more is asked for.
  const known = session.peek();
  session.value = undefined;
  try {
    await call("DELETE /auth/session");
  } catch (error) {
    session.value = known;
    throw error;
  }
  forgetAll();
}

const ROLES = ["member", "admin", "owner"] as const;

/** Whether the role is at least this one; nothing is hidden while it is not known. */
export function isAtLeast(role: (typeof ROLES)[number]): boolean {
  const known = session.value;
  return !known || ROLES.indexOf(known.role) >= ROLES.indexOf(role);
}

/** Whether the role is known to be at least this one: before that nothing is asked for that others may not read. */
export const isSurely = (role: (typeof ROLES)[number]): boolean => session.value !== undefined && isAtLeast(role);
