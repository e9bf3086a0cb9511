import { anyObject } from "../../contract/wire/shape.ts";
import { json } from "../answer.ts";
import type { Route } from "../call.ts";
import { jsonDoc } from "../docs.ts";

/** The API's own description, made at its first use from the routes that are served. */
export function openApiRoutes(describe: () => Readonly<Record<string, unknown>>): Route[] {
  let document: Readonly<Record<string, unknown>> | null = null;
  return [
    {
      method: "GET",
      path: "/openapi.json",
      scope: "view",
      doc: {
        operationId: "getOpenApi",
        tag: "meta",
        summary: "This description",
        answers: { 200: jsonDoc("OpenAPI 3.1.", anyObject) },
      },
      handle() {
        document ??= describe();
        return json(document);
      },
    },
  ];
}
