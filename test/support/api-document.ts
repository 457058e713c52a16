import { routes } from "../../src/http/app.ts";
import { openApiDocument } from "../../src/http/openapi.ts";
import { faultsBy } from "./documented-answers.ts";
import type { ApiDocument } from "./documented-answers.ts";

export const apiDocument = openApiDocument(routes) as unknown as ApiDocument;

/** What is wrong with an answer, held against the document of the routes; null when it is as published. */
export const faultOfAnswer = faultsBy(apiDocument);
