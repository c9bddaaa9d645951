// Types of the host's functions that this plugin uses, as its JavaScript sees wit/. Whatever a function returns as an
// error is thrown, as an object whose member `payload` has `code` and `message`.

declare module "hostd:plugin/config@1.0.0" {
  export function get(): string;
}

declare module "hostd:plugin/devices@1.0.0" {
  export class Device {
    id(): string;
    name(): string;
    state(): string;
    json(): string;
  }
  export function list(): Device[];
  export function get(device: string): Device;
  export function command(device: string, command: string, timeoutMs: number): string;
}

declare module "hostd:plugin/log@1.0.0" {
  export function write(level: "debug" | "info" | "warn" | "error", message: string): void;
}

declare module "hostd:plugin/power@1.0.0" {
  export interface Rail {
    id: number;
    on: boolean;
    fault: boolean;
    millivolts?: bigint;
    microamperes?: bigint;
    extra: [string, string][];
  }
  export function rails(device: string): Rail[];
  function set(device: string, rail: number, on: boolean): void;
  export { set as switch };
}

declare module "hostd:plugin/store@1.0.0" {
  export interface Entry {
    key: string;
    value: Uint8Array;
    version: bigint;
  }
  export function get(key: string): Entry | undefined;
  export function put(key: string, value: Uint8Array): bigint;
  export function compareAndSet(key: string, expected: bigint | undefined, value: Uint8Array | undefined): bigint;
  function remove(key: string): void;
  export { remove as delete };
  export function scan(from: string, to: string, limit: number): Entry[];
}

declare module "hostd:plugin/http@1.0.0" {
  export interface Route {
    name: string;
    method: string;
    pattern: string;
    scope?: string;
    public: boolean;
    bodyLimit: number;
    summary: string;
    openapi: string;
    extra: [string, string][];
  }
  export interface Caller {
    org: string;
    user: string;
    role: string;
    credential: string;
    scopes: string[];
    devices?: string[];
    extra: [string, string][];
  }
  export interface Request {
    id: string;
    route: number;
    method: string;
    path: string;
    params: string[];
    query: string;
    headers: [string, string][];
    body: Uint8Array;
    caller?: Caller;
    extra: [string, string][];
  }
  export interface Response {
    status: number;
    headers: [string, string][];
    body: Uint8Array;
    extra: [string, string][];
  }
}
