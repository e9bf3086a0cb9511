import { z } from "zod";
import { version } from "../contract/version.ts";
import { errorShape } from "../contract/wire/error.ts";
import { namedShapes } from "../contract/wire/shape.ts";
import type { AnswerDoc, QueryDoc, Route } from "./call.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * The routes as an OpenAPI 3.1 document: every path with its parameters, body, answers and scope. Ids of operations are what generated
 * clients call their methods; they do not change.
 */
export function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operation(route);
    paths[route.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "cronstable HTTP control API",
      version,
      description: "Reads and steers one cronstable daemon. See docs/http-api.md.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "http://127.0.0.1:8080" }],
    security: [{ bearerAuth: [] }, {}],
    tags: [...new Set(routes.map(({ doc }) => doc.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearerAuth: { type: "http", scheme: "bearer" },
        icsToken: { type: "apiKey", in: "query", name: "token" },
      },
      headers: { ETag: { description: "Version of the answer, for If-None-Match.", schema: { type: "string" } } },
      responses: {
        Unauthorized: errorAnswer("No credential that is known."),
        Forbidden: errorAnswer("The credential, or the page that asks, may not."),
      },
      schemas: componentSchemas(),
    },
  };
}

function operation(route: Route): Json {
  const { doc, scope } = route;
  const isPublic = doc.access === "public";
  return {
    tags: [doc.tag],
    operationId: doc.operationId,
    summary: doc.summary,
    ...(scope === "view" ? {} : { "x-required-scope": scope }),
    ...(doc.access === undefined ? {} : { security: securityOf(doc.access) }),
    ...parametersOf(route),
    ...(doc.body === undefined
      ? {}
      : {
          requestBody: {
            required: doc.body.required,
            content: { "application/json": { schema: schemaOf(doc.body.shape) } },
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.entries(doc.answers).map(([status, answer]) => [
          status,
          responseOf(answer, doc.conditional === true && status === "200"),
        ]),
      ),
      ...(doc.conditional === true ? { 304: { description: "The client has this version." } } : {}),
      ...(isPublic ? {} : { 401: { $ref: "#/components/responses/Unauthorized" } }),
      ...(isPublic || 403 in doc.answers ? {} : { 403: { $ref: "#/components/responses/Forbidden" } }),
    },
  };
}

function securityOf(access: "query token" | "public") {
  return access === "public" ? [{}, { bearerAuth: [] }] : [{ bearerAuth: [] }, { icsToken: [] }, {}];
}

function parametersOf({ path, doc }: Route): Json {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    description: "One percent-encoded segment.",
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(doc.query ?? {}).map(([name, about]) => queryParameter(name, about));
  const conditional = { name: "If-None-Match", in: "header", required: false, schema: { type: "string" } };
  const parameters = [...inPath, ...inQuery, ...(doc.conditional === true ? [conditional] : [])];
  return parameters.length === 0 ? {} : { parameters };
}

function queryParameter(name: string, { type, about, required, values, minimum, maximum, default: usual }: QueryDoc) {
  return {
    name,
    in: "query",
    required: required === true,
    description: about,
    schema: {
      type,
      ...(values === undefined ? {} : { enum: values }),
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum === undefined ? {} : { maximum }),
      ...(usual === undefined ? {} : { default: usual }),
    },
  };
}

function responseOf({ about, content }: AnswerDoc, isTagged: boolean): Json {
  return {
    description: about,
    ...(isTagged ? { headers: { ETag: { $ref: "#/components/headers/ETag" } } } : {}),
    ...(content === undefined
      ? {}
      : {
          content: Object.fromEntries(
            Object.entries(content).map(([type, shape]) => [
              type,
              { schema: shape === "text" ? { type: "string" } : schemaOf(shape) },
            ]),
          ),
        }),
  };
}

function errorAnswer(about: string): Json {
  return responseOf({ about, content: { "application/json": errorShape } }, false);
}

/** Members that later daemons may add are allowed, and that an integer fits a double goes without saying. */
const rendering = {
  io: "input",
  override({ jsonSchema }) {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
} as const satisfies z.core.ToJSONSchemaParams;

function reference(id: string): string {
  return `#/components/schemas/${id}`;
}

/** A named shape by its name; of others, what they are made of. */
function schemaOf(shape: z.core.$ZodType): Json {
  const named = namedShapes.get(shape);
  if (named !== undefined) return { $ref: reference(named.id) };
  if (shape instanceof z.ZodArray) return { type: "array", items: schemaOf(shape.element) };
  if (shape instanceof z.ZodUnion) return { anyOf: shape.options.map(schemaOf) };
  return withoutDialect(z.toJSONSchema(shape, rendering));
}

/** Every named shape. */
function componentSchemas(): Json {
  const { schemas } = z.toJSONSchema(namedShapes, { ...rendering, uri: reference });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([id, schema]) => [id, withoutDialect(schema)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function withoutDialect(schema: Json): Json {
  const { $schema: _, $id: __, id: ___, ...own } = schema;
  return own;
}
