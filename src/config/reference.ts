/** The manual's lists of keys, made from the schema so that they cannot say something else (docs/configuration.md). */
import { type JsonSchema, jsonSchema } from "./json-schema.ts";

/** Headings of the parts that have a list of their own, by the name the schema knows them under. */
const headings: Readonly<Record<string, string>> = {
  job: "Jobs",
  defaults: "Defaults",
  dag: "DAGs",
  dagTask: "Tasks",
  report: "Reports",
  lateReport: "Reports",
  eventReport: "Reports",
  secret: "Secrets",
};

/** Longer defaults, which are templates, are not shown in the list. */
const shownDefaultMax = 40;

/** The manual's text with every list between `<!-- keys: NAME -->` and `<!-- end -->` made anew. */
export function withReferenceLists(manual: string): string {
  const lists = referenceLists();
  return manual.replace(/(<!-- keys: (\w+) -->\n).*?(?=<!-- end -->)/gs, (_list, opening: string, name: string) => {
    return `${opening}\n${lists.get(name) ?? ""}\n`;
  });
}

/**
 * Lists of keys by the name under which the manual asks for them: `file`, `job`, `dag`, `task`, `report`, `secret`, and the sections
 * by their keys. Each is Markdown.
 */
export function referenceLists(): ReadonlyMap<string, string> {
  const root = jsonSchema();
  const definitions = (root.definitions ?? {}) as Readonly<Record<string, JsonSchema>>;
  const ofJob = new Set(Object.keys(definitions.job?.properties ?? {}));
  const lists = new Map<string, string>([["file", keyList(root, 0, () => true, false)]]);
  const named = { job: "job", dag: "dag", report: "report", secret: "secret" };
  for (const [name, definition] of Object.entries(named)) lists.set(name, keyList(definitions[definition] ?? {}));
  lists.set(
    "task",
    keyList(definitions.dagTask ?? {}, 0, (key) => key === "command" || !ofJob.has(key)),
  );
  for (const [key, section] of Object.entries(root.properties ?? {})) {
    const map = typeof section === "object" ? mapIn(section) : null;
    if (map !== null && map.$ref === undefined) lists.set(key, keyList(map));
  }
  return lists;
}

/** The mapping a key takes, where it takes one: itself, an alternative, or what a table of them holds. */
function mapIn(schema: JsonSchema): JsonSchema | null {
  if (schema.properties !== undefined) return schema;
  if (typeof schema.additionalProperties === "object") return mapIn(schema.additionalProperties as JsonSchema);
  for (const alternative of (schema.anyOf ?? []) as readonly JsonSchema[]) {
    const map = mapIn(alternative);
    if (map !== null) return map;
  }
  return schema.type === "array" && schema.items !== undefined ? mapIn(schema.items as JsonSchema) : null;
}

function keyList(map: JsonSchema, depth = 0, wanted: (key: string) => boolean = () => true, nested = true): string {
  const required = new Set(map.required);
  return Object.entries((map.properties ?? {}) as Readonly<Record<string, JsonSchema>>)
    .filter(([key]) => wanted(key))
    .map(([key, schema]) => {
      const facts = [kindOf(schema), required.has(key) ? "required" : defaultOf(schema)].filter((fact) => fact !== "");
      const line = `${"  ".repeat(depth)}- \`${key}\` (${facts.join(", ")}): ${schema.description ?? ""}\n`;
      const inner = nested ? mapIn(schema) : null;
      return inner === null ? line : line + keyList(inner, depth + 1);
    })
    .join("");
}

function kindOf(schema: JsonSchema): string {
  const reference = (schema.$ref ?? (schema.allOf?.[0] as JsonSchema | undefined)?.$ref)?.replace("#/definitions/", "");
  if (reference !== undefined) {
    const heading = headings[reference] ?? reference;
    return `see [${heading}](#${heading.toLowerCase()})`;
  }
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(" or ");
  if (schema.anyOf !== undefined) return alternatives(schema.anyOf as readonly JsonSchema[]);
  const types = [schema.type ?? []].flat() as readonly string[];
  const orBlank = types.includes("null") ? " or blank" : "";
  if (types.includes("array"))
    return `list of ${kindOf((schema.items ?? {}) as JsonSchema)}`.replace("of see", "of mappings, see");
  if (schema.properties !== undefined) return "mapping";
  if (types.includes("object"))
    return `mapping of names to ${kindOf((schema.additionalProperties ?? {}) as JsonSchema)}`;
  if (types.includes("boolean")) return `text${orBlank}`;
  if (types.includes("integer")) return "number or text";
  return types[0] === undefined ? "anything" : types[0].replace("string", "text").replace("null", "blank");
}

/** The forms a scalar may have are one kind; other alternatives are each their own. */
function alternatives(forms: readonly JsonSchema[]): string {
  const orBlank = forms.some(({ type }) => type === "null") ? " or blank" : "";
  if (orBlank !== "" && forms.some(({ enum: words }) => words?.includes(""))) return "blank";
  if (forms.some(({ type }) => type === "integer")) return `integer${orBlank}`;
  if (forms.some(({ type, pattern }) => type === "number" && pattern === undefined)) return `number${orBlank}`;
  if (forms.some(({ type }) => type === "boolean")) return `yes or no${orBlank}`;
  return [...new Set(forms.map(kindOf))].join(" or ");
}

function defaultOf({ default: value }: JsonSchema): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return `default \`${value ? "yes" : "no"}\``;
  if (Array.isArray(value) && value.length === 0) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === "{}") return "";
  return text.length > shownDefaultMax ? "default: a fixed text" : `default \`${text}\``;
}
