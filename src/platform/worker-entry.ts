/**
 * Address of a worker thread's entry file, `name` as in `src/<room>/<name>.worker.ts`.
 *
 * In a build every worker is a file of its own beside the chunks (`dist/<name>.worker.js`); run from source, it stands
 * beside the module that asks.
 *
 * @param importMetaUrl `import.meta.url` of the caller
 */
export function workerEntry(name: string, importMetaUrl: string): URL {
  const extension = importMetaUrl.endsWith(".ts") ? ".worker.ts" : ".worker.js";
  return new URL(`./${name}${extension}`, importMetaUrl);
}
