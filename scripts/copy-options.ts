import { parseArgs } from "node:util";
import { Refusal } from "./refusal.ts";

const BACKUP_USAGE = `Usage: npm run backup -- --to <new folder> [--persist-to <dir>]

  --to <new folder>    where the copy goes; a folder that is new or empty
  --persist-to <dir>   the data directory of a stopped server, default .perdure`;

const RESTORE_USAGE = `Usage: npm run restore -- --from <backup> [--persist-to <dir>]

  --from <backup>      a folder that npm run backup made
  --persist-to <dir>   the data directory to make, new or empty; default .perdure`;

export interface CopyOptions {
  from: string;
  to: string;
}

/** What `npm run backup` was asked; nothing when it was only asked what it can do, and said so. */
export function backupOptions(args: string[]): CopyOptions | null {
  const given = parse(args, "to", BACKUP_USAGE);
  return given && { from: given.data, to: given.other };
}

/** The same of `npm run restore`. */
export function restoreOptions(args: string[]): CopyOptions | null {
  const given = parse(args, "from", RESTORE_USAGE);
  return given && { from: given.other, to: given.data };
}

function parse(args: string[], other: "to" | "from", usage: string) {
  const values = parseOrRefuse(args, other, usage);
  if (values.help === true) {
    console.log(usage);
    return null;
  }
  const folder = values[other];
  if (typeof folder !== "string" || folder === "") {
    throw new Refusal(`Say where ${other}, with --${other}.\n\n${usage}`);
  }
  return { data: values["persist-to"], other: folder };
}

function parseOrRefuse(args: string[], other: "to" | "from", usage: string) {
  try {
    return parseArgs({
      args,
      options: {
        [other]: { type: "string" },
        "persist-to": { type: "string", default: ".perdure" },
        help: { type: "boolean", default: false },
      },
    }).values as { "persist-to": string; help: boolean; to?: string; from?: string };
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${usage}`);
  }
}
