import { expectTypeOf, it } from "vitest";
import type * as bulk from "../../src/bulk/rpc.ts";
import type * as lifecycle from "../../src/lifecycle/types.ts";
import type * as pattern from "../../src/migration/pattern.ts";
import type * as registry from "../../src/registry/rpc.ts";
import type * as sdk from "../../src/sdk/index.ts";
import type * as tasks from "../../src/tasks/rpc.ts";
import type * as webhooks from "../../src/webhooks/rpc.ts";

it("the SDK's closed lists of words are the server's", () => {
  // Held by the type check: the SDK imports nothing of the server, so it has to repeat them.
  expectTypeOf<sdk.ActorStatus>().toEqualTypeOf<lifecycle.ActorStatus>();
  expectTypeOf<sdk.AttentionReason>().toEqualTypeOf<lifecycle.AttentionReason>();
  expectTypeOf<sdk.BulkAction>().toEqualTypeOf<bulk.BulkAction>();
  expectTypeOf<sdk.BulkOutcome>().toEqualTypeOf<bulk.BulkOutcome>();
  expectTypeOf<sdk.Match>().toEqualTypeOf<pattern.Match>();
  expectTypeOf<sdk.Scope>().toEqualTypeOf<registry.Scope>();
  expectTypeOf<sdk.TaskKind>().toEqualTypeOf<tasks.TaskKind>();
  expectTypeOf<sdk.TaskStatus>().toEqualTypeOf<tasks.TaskStatus>();
  expectTypeOf<sdk.WebhookEvent>().toEqualTypeOf<webhooks.WebhookEvent>();
});
