// Writes what is generated from the configuration's schemas: `npm run schema`. A test compares, so review the diff and commit it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { jsonSchemaText } from "../src/config/json-schema.ts";
import { withReferenceLists } from "../src/config/reference.ts";

const root = new URL("../", import.meta.url);
const manual = new URL("docs/configuration.md", root);

mkdirSync(new URL("schema/", root), { recursive: true });
writeFileSync(new URL("schema/cronstable.schema.json", root), jsonSchemaText());
writeFileSync(manual, withReferenceLists(readFileSync(manual, "utf8")));
