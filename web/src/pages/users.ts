// The users of the organisation, for their page and for whatever names one.
import { call } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { isSurely } from "../api/session.ts";

/** None, for those who may not see the users, and until it is known who asks. */
export const useUsers = (everyMs = 0) => useResource(`users ${isSurely("admin")}`, (signal) => (isSurely("admin") ? call("GET /users", undefined, signal) : Promise.resolve({ users: [] })), everyMs);

/** The login of a user by the id; the end of the id where it is not known. */
export function useNameOfUser(): (id: string) => string {
  const users = useUsers().data.value?.users ?? [];
  return (id) => users.find((user) => user.id === id)?.login ?? `user ${id.slice(-6)}`;
}
