// Preloaded where TypeScript is run from source: unlike `--import tsx`, this also reaches the worker threads started from there.
import { register } from "tsx/esm/api";

register();
