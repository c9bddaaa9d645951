// Starts a hostd with its demo bench: a free port, a folder of its own, nothing fixed, so that tests can run side by side.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const START_MS = 30_000;
const LOOK_MS = 50;

/** `more` are arguments of `hostd serve`. */
export async function startHostd(binary, { folder = mkdtempSync(join(tmpdir(), "hostd-web-")), listen = "127.0.0.1:0", more = [] } = {}) {
  const ready = join(folder, "ready.json");
  rmSync(ready, { force: true });
  // A variable HOSTD_… of a person's shell is a setting, which the server might not know.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HOSTD_")));
  const child = spawn(binary, ["serve", "--demo", "--data-dir", join(folder, "data"), "--listen", listen, "--ready-file", ready, ...more], { env });
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  child.stderr.on("data", (data) => (output += data));
  for (let waited = 0; !existsSync(ready); waited += LOOK_MS) {
    if (waited > START_MS || child.exitCode !== null) throw new Error(`hostd did not start:\n${output}`);
    await new Promise((later) => setTimeout(later, LOOK_MS));
  }
  const { url, api_key, devices } = JSON.parse(readFileSync(ready, "utf8"));
  const end = async () => {
    child.kill();
    await new Promise((done) => (child.exitCode === null ? child.once("exit", done) : done()));
  };
  return {
    url,
    apiKey: api_key,
    devices,
    folder,
    /** The code of a first start, which signs in once. */
    code: () => /"code":"([^"]+)"/.exec(output)?.[1],
    /** Ends the program and keeps its folder, for another start. */
    end,
    stop: async () => {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
