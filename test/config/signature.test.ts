import { renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { diskReader } from "../../src/config/reader.ts";
import { currentSignature } from "../../src/config/signature.ts";
import { configAt, filesIn, jobWith, someFacts } from "./loading.ts";

function someConfig() {
  const directory = filesIn({
    "conf/a.yaml": `include: [../included.crontab]\n${jobWith(`env_file: \${D}/env`)}`,
    "conf/README.md": "",
    "included.crontab": "0 0 * * * x\n",
    env: "A=1\n",
  });
  utimesSync(join(directory, "conf"), 1, 1); // so that a change shows, however coarse the clock of the file system
  const config = configAt(join(directory, "conf"), { environment: { D: directory } });
  return { directory, config, hasChanged: () => currentSignature(config) !== config.signature };
}

test("files that nobody touched look the same", () => {
  const { hasChanged, config, directory } = someConfig();
  expect(hasChanged()).toBe(false);
  expect(config.files).toEqual(["conf/a.yaml", "included.crontab", "env"].map((file) => join(directory, file)));
});

test.each(["conf/a.yaml", "included.crontab", "env"])("an edit of %s is noticed", (file) => {
  const { directory, hasChanged } = someConfig();
  writeFileSync(join(directory, file), "longer than it was before, by far and by all means\n");
  expect(hasChanged()).toBe(true);
});

test("a touch, a removal, a new file in the directory are noticed", () => {
  const touched = someConfig();
  utimesSync(join(touched.directory, "env"), 2, 2);
  expect(touched.hasChanged()).toBe(true);
  const removed = someConfig();
  rmSync(join(removed.directory, "included.crontab"));
  expect(removed.hasChanged()).toBe(true);
  const added = someConfig();
  renameSync(join(added.directory, "env"), join(added.directory, "conf/b.yaml"));
  expect(added.hasChanged()).toBe(true);
});

test("a file that is not part of the configuration is nobody's business", () => {
  const { directory, hasChanged } = someConfig();
  writeFileSync(join(directory, "conf/README.md"), "more text\n");
  expect(hasChanged()).toBe(false);
});

test("an edit made while the load was going on is noticed", () => {
  const path = join(filesIn({ "a.yaml": "jobs: []\n" }), "a.yaml");
  const result = loadConfig(path, someFacts, {
    ...diskReader,
    read(file) {
      const content = diskReader.read(file);
      writeFileSync(file, "jobs: [] # edited\n");
      return content;
    },
  });
  if (!result.ok) expect.unreachable("the file loads");
  else expect(currentSignature(result.config)).not.toBe(result.config.signature);
});
