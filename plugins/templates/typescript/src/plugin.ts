// The plugin: its routes, and which function answers each.

import { get as config } from "hostd:plugin/config@1.0.0";
import { list } from "hostd:plugin/devices@1.0.0";
import type { Request, Response, Route } from "hostd:plugin/http@1.0.0";
import { rails } from "hostd:plugin/power@1.0.0";
import { get, put } from "hostd:plugin/store@1.0.0";
import { code, type Host, KEY, Refused, report, setWarning, warning } from "./rails.js";

const host: Host = { devices: list, rails, config, get, put };

const STATUS: Record<string, number> = {
  invalid: 400, not_granted: 403, missing_scope: 403, not_found: 404, quota_exceeded: 507,
};

function route(name: string, method: string, pattern: string, bodyLimit: number, summary: string): Route {
  return { name, method, pattern, scope: "bench:control", public: false, bodyLimit, summary, openapi: "", extra: [] };
}

const ROUTES: [Route, (request: Request) => unknown][] = [
  [
    route("rails", "GET", "/rails", 0, "What every rail of every device draws"),
    () => report(host, warning(host)),
  ],
  [
    route("warning", "PUT", "/warning", 1024, "Set the current above which a rail is marked"),
    (request) => ({ [KEY]: setWarning(host, request.body) }),
  ],
];

function reply(status: number, value: unknown): Response {
  const body = new TextEncoder().encode(JSON.stringify(value));
  return { status, headers: [["content-type", "application/json"]], body, extra: [] };
}

function refusal(request: Request, status: number, code: string, error: string): Response {
  return reply(status, { error, code, request_id: request.id });
}

export const http = {
  routes: (): Route[] => ROUTES.map(([route]) => route),

  handle(request: Request): Response {
    const [, answer] = ROUTES[request.route]!;
    try {
      return reply(200, answer(request));
    } catch (error) {
      if (error instanceof Refused) return refusal(request, error.status, error.code, error.message);
      const known = code(error);
      return refusal(request, STATUS[known] ?? 500, known, (error as { payload: { message: string } }).payload.message);
    }
  },
};
