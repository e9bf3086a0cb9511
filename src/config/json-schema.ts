/** The JSON Schema that editors check and complete configuration files with, made from the schemas that read them. */
import { z } from "zod";
import { file } from "./options/file.ts";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Editors see YAML's own types, so a number may be written with or without quotes. */
export function jsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(file, {
    io: "input",
    target: "draft-07", // what editors' YAML support knows best
    override({ zodSchema, jsonSchema }) {
      // Zod leaves out the default of a type that transforms its input; here both are written alike.
      if (zodSchema instanceof z.ZodDefault && !isMapping(zodSchema.def.defaultValue))
        jsonSchema.default = zodSchema.def.defaultValue;
      // A scalar's forms say more than that it is text to us.
      if (jsonSchema.anyOf !== undefined) delete jsonSchema.type;
      delete jsonSchema.propertyNames;
      delete jsonSchema.id;
    },
  });
  const { $schema, ...rest } = schema;
  return { ...($schema === undefined ? {} : { $schema }), title: "cronstable configuration", ...rest };
}

/** The content of `schema/cronstable.schema.json`. */
export function jsonSchemaText(): string {
  return `${JSON.stringify(jsonSchema(), null, 2)}\n`;
}

function isMapping(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
