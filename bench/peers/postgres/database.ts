import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { Refusal } from "../../../scripts/refusal.ts";
import { freePort, startProcess } from "../started-process.ts";
import type { StartedProcess } from "../started-process.ts";

export interface Database {
  process: StartedProcess;
  /** What a client finds it by, in the variables of libpq. */
  env: Record<string, string>;
}

const USER = "bench";
const DEBIAN = "/usr/lib/postgresql";
/** Commits are on disk before they are acknowledged; these are the defaults, written down. */
const DURABLE = ["fsync=on", "synchronous_commit=on", "full_page_writes=on"];

/** A new cluster in `directory`, which must not exist yet, served on a free port of the loopback interface. */
export async function startDatabase(directory: string, connections: number): Promise<Database> {
  const programs = programsFolder();
  const user = unprivilegedUser();
  const password = randomBytes(16).toString("hex");
  const data = join(directory, "data");
  const passwordFile = join(directory, "password");
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) {
    for (const path of [directory, data, passwordFile]) chownSync(path, user.uid, user.gid);
    // The run's own folder is above; others may go through it, but not look into it.
    chmodSync(dirname(directory), 0o711);
  }
  const init = spawnSync(
    join(programs, "initdb"),
    [
      "-D",
      data,
      "-U",
      USER,
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "-E",
      "UTF8",
      "--no-locale",
      "-N",
    ],
    { encoding: "utf8", cwd: "/", ...user },
  );
  if (init.status !== 0) {
    throw new Refusal(`initdb failed: ${init.error?.message ?? init.stderr.trim()}`);
  }
  const port = await freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    `port=${port}`,
    `max_connections=${connections + 10}`,
    ...DURABLE,
  ];
  const process = startProcess({
    command: join(programs, "postgres"),
    args: ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    ...(user === undefined ? {} : { user }),
    // SIGKILL would leave its shared memory behind.
    endSignal: "SIGQUIT",
  });
  try {
    await process.ready((said) => said.includes("ready to accept connections"));
  } catch (error) {
    await process.end();
    throw error;
  }
  const env = {
    PGHOST: "127.0.0.1",
    PGPORT: String(port),
    PGUSER: USER,
    PGPASSWORD: password,
    PGDATABASE: "postgres",
  };
  return { process, env };
}

/** As `postgres --version` says it. */
export function databaseVersion(): string {
  const { stdout } = spawnSync(join(programsFolder(), "postgres"), ["--version"], {
    encoding: "utf8",
  });
  return stdout.replace("postgres (PostgreSQL)", "PostgreSQL").trim();
}

function programsFolder(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    ...newestFirst.map((version) => join(DEBIAN, version, "bin")),
  ];
  const found = folders.find((folder) =>
    ["initdb", "postgres"].every((program) => existsSync(join(folder, program))),
  );
  if (found !== undefined) return found;
  throw new Refusal(
    "there is no PostgreSQL on this machine (initdb, postgres): install the package postgresql",
  );
}

/** PostgreSQL refuses to run as root; it then runs as the user that its package made, or as nobody. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((flag) =>
      spawnSync("id", [flag, name], { encoding: "utf8" }).stdout.trim(),
    );
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Refusal("PostgreSQL does not run as root, and there is no user postgres or nobody");
}
