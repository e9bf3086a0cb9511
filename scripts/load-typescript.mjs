// Preloaded by `node --import`: lets this thread, and by inheritance every worker thread it starts, load TypeScript.
// `--import tsx` alone serves only the main thread on Node.js 20.
import { register } from "tsx/esm/api";

register();
