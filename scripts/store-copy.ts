import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Refusal } from "./refusal.ts";

/**
 * Files that belong to a running server or are made anew. To read `lock` here would even let go of
 * it: closing a file drops all `fcntl` locks of the process on it.
 */
const TRANSIENT = /^(lock(-journal)?|holder|server\.pid|server\.capnp|.*-shm)$/;

export interface Copied {
  files: number;
  bytes: number;
}

/** Copies a data directory that no server uses to a place that is empty; all of it or nothing. */
export async function copyStore(from: string, to: string): Promise<Copied> {
  await refuseUnlessEmpty(to);
  const draft = join(dirname(to), `.${basename(to)}.partial`);
  await rm(draft, { recursive: true, force: true });
  const copied = { files: 0, bytes: 0 };
  await copyFolder(from, draft, copied);
  await rename(draft, to);
  await sync(dirname(to));
  return copied;
}

async function copyFolder(from: string, to: string, copied: Copied): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) {
      await copyFolder(source, target, copied);
    } else if (entry.isFile() && !TRANSIENT.test(entry.name)) {
      await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      copied.files += 1;
      copied.bytes += await sync(target);
    }
  }
  await sync(to);
}

/** Until it is on the disk; answers the size. */
async function sync(path: string): Promise<number> {
  const file = await open(path, "r");
  try {
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

async function refuseUnlessEmpty(path: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (names.length > 0) {
    throw new Refusal(
      `${path} is not empty. Nothing was copied; name a folder that does not exist.`,
    );
  }
  await mkdir(dirname(path), { recursive: true });
}
