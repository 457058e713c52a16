import type { Env } from "../env.ts";
import type { Db } from "../storage/db.ts";

/** A tenant's registry, to what works in it and has to ask others. */
export interface Registry {
  tenant: string;
  env: Env;
  /** The database, or null where nothing was ever written. */
  stored(): Db | null;
  /** The database with its tables, made now if need be; called only when something will be written. */
  open(): Db;
  /** An alarm that tells sweeps what they are owed, in the turn of the commit that owes it. */
  owe(): void;
}
