import { sendKeyed } from "./keyed.ts";
import type { KeyedOptions, Replayable } from "./keyed.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import { pathId } from "./path.ts";
import type { CallOptions, Transport } from "./transport.ts";

export type Scope = "read" | "write" | "deploy" | "admin";

export interface ApiKey {
  id: string;
  tenant: string;
  label: string;
  scopes: Scope[];
  /** ISO 8601, like the three below. */
  createdAt: string;
  rotatedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

/** A key as it is answered once. A replay of the answer says `secretShown` instead of the key. */
export interface CreatedKey extends ApiKey {
  key?: string;
  secretShown?: boolean;
}

export interface KeysApi {
  /** Makes an API key. The answer is the only place where it can be read. */
  create(
    request: {
      label: string;
      scopes: Scope[];
      tenant?: string | undefined;
      /** ISO 8601, or a Date. */
      expiresAt?: string | Date | undefined;
    },
    options?: KeyedOptions,
  ): Promise<Replayable<CreatedKey>>;
  /** All keys of the tenant, revoked ones too, without their secrets, page by page. */
  list(options?: CallOptions & { limit?: number | undefined }): AsyncIterable<ApiKey>;
  revoke(keyId: string, options?: CallOptions): Promise<void>;
  /** Gives a key another secret. */
  rotate(keyId: string, options?: KeyedOptions): Promise<Replayable<CreatedKey>>;
}

const root = "/v1/keys";
const pathOf = (keyId: string) => `${root}/${pathId(keyId, "key id")}`;

export function keysApi(transport: Transport): KeysApi {
  return {
    async create(request, options = {}) {
      return sendKeyed<CreatedKey>(transport, { path: root, body: request }, options);
    },
    list({ limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const call = { path: root, query: { limit, cursor }, options };
        return (await transport.send<Page<ApiKey>>({ method: "GET", ...call })).body;
      });
    },
    async revoke(keyId, options) {
      await transport.send<void>({ method: "DELETE", path: pathOf(keyId), options });
    },
    async rotate(keyId, options = {}) {
      return sendKeyed<CreatedKey>(transport, { path: `${pathOf(keyId)}/rotate` }, options);
    },
  };
}
