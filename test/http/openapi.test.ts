import { writeFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { openApiDocument } from "../../src/http/openapi.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode } from "../support/web-node.ts";
import { sample } from "./samples.ts";
import { committedDocument, committedText, describedRoutes } from "./served.ts";

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly { readonly name?: string; readonly in?: string; readonly $ref?: string }[];
  readonly "x-required-scope"?: string;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters?: Readonly<Record<string, { readonly name: string; readonly in: string }>>;
    readonly schemas: Readonly<Record<string, { readonly properties?: object }>>;
  };
}

const routes = describedRoutes();
const document = openApiDocument(routes) as unknown as Document;
const known = sample("openapi-skeleton.json") as Document;

/** `npm run openapi` writes the committed document; the difference is reviewed with the change. */
test("openapi.json is what the routes say", () => {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (process.env.WRITE_OPENAPI === "1") writeFileSync(committedDocument, text);
  expect(committedText()).toBe(text);
});

test("it is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document) as unknown as Record<string, unknown>);
  expect(errors).toBeUndefined();
  expect([valid, validator.version]).toEqual([true, "3.1"]);
});

test("every reference leads somewhere", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
  expect(references.length).toBeGreaterThan(50);
  const lost = references.filter(
    (path) =>
      path.split("/").reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document) === undefined,
  );
  expect(lost).toEqual([]);
});

const operations = ({ paths, components }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const parameters = (operation.parameters ?? []).map((parameter) => {
        const named =
          parameter.$ref === undefined ? parameter : components.parameters?.[parameter.$ref.split("/").at(-1) ?? ""];
        return `${named?.in} ${named?.name}`;
      });
      return { ...operation, route: `${method} ${path}`, parameters };
    }),
  );

test.each(operations(known))(
  "clients that were generated before find $operationId",
  ({ route, operationId, parameters, responses, ...rest }) => {
    const ours = operations(document).find((operation) => operation.route === route);
    expect(ours?.operationId).toBe(operationId);
    expect(ours?.["x-required-scope"]).toBe(rest["x-required-scope"]);
    const isToken = (parameter: string): boolean => parameter === "query token"; // said by the security scheme
    expect(parameters.filter((parameter) => !isToken(parameter) && !ours?.parameters.includes(parameter))).toEqual([]);
    expect(Object.keys(responses).filter((status) => !(status in (ours?.responses ?? {})))).toEqual([]);
  },
);

test("shapes keep their names and members", () => {
  for (const [name, { properties = {} }] of Object.entries(known.components.schemas))
    expect({
      name,
      missing: Object.keys(properties).filter(
        (member) => !(member in (document.components.schemas[name]?.properties ?? {})),
      ),
    }).toEqual({ name, missing: [] });
});

test("ids of operations are given once", () => {
  const ids = routes.map(({ doc }) => doc.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a daemon serves the description of what it serves", async () => {
  const node = await startWebNode({ jobs: [jobConfig({ name: "job" })] });
  const served = (await node.get("/openapi.json")).json() as Document;
  expect(Object.keys(document.paths).filter((path) => !(path in served.paths))).toEqual(["/mcp", "/"]);
  expect((await new Validator().validate(served as unknown as Record<string, unknown>)).valid).toBe(true);
  await node.stop();
});
