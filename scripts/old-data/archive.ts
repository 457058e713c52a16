import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, readFile, readdir } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { brotliDecompress, constants, createBrotliCompress } from "node:zlib";

/** Actors' files are alike, so most of each is found again in another: the window must reach there. */
const LOOKS_BACK = 24;
/** The best one takes minutes and gains little. */
const QUALITY = 9;

/** Puts a folder into one file. */
export async function pack(folder: string, file: string): Promise<void> {
  const names = (await readdir(folder)).sort();
  const tar = spawn("tar", ["-C", folder, "--numeric-owner", "-cf", "-", ...names], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const brotli = createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: LOOKS_BACK,
    },
  });
  await Promise.all([pipeline(tar.stdout, brotli, createWriteStream(file)), ended(tar)]);
}

/** Puts it back into a new folder. */
export async function unpack(file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const archive = await promisify(brotliDecompress)(await readFile(file));
  execFileSync("tar", ["-C", folder, "-xf", "-"], { input: archive });
}

async function ended(tar: ReturnType<typeof spawn>): Promise<void> {
  const [code] = (await once(tar, "exit")) as [number | null];
  if (code !== 0) throw new Error(`tar ended with ${code}`);
}
