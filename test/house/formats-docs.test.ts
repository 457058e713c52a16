import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ENVELOPE_FORMAT } from "../../src/lifecycle/types.ts";
import { ACTOR_SCHEMA } from "../../src/storage/actor-schema.ts";
import { DIRECTORY_VERSION } from "../../src/storage/directory-schema.ts";
import { REGISTRY_VERSION } from "../../src/storage/registry-schema.ts";
import { ROOT } from "./sources.ts";

const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8");

it("the formats that a rollback meets are those of the code, wherever docs/deploy.md names them", () => {
  const now = `now envelope format ${ENVELOPE_FORMAT}, actor tables ${ACTOR_SCHEMA}, directory tables ${DIRECTORY_VERSION}, registry tables ${REGISTRY_VERSION}`;
  const told = textOf("docs/deploy.md").match(/now envelope format [^)]*/g);
  expect(told).toEqual([now, now]);
});

it("docs/formats.md describes the envelope that the code writes", () => {
  expect(textOf("docs/formats.md")).toContain(`\n## Envelope, format ${ENVELOPE_FORMAT}\n`);
});
