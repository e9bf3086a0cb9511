/** Largest file that is read; a bigger one is refused by name. 32 MiB hold some 200,000 jobs. */
export const fileBytesMax = 32 * 1024 * 1024;

/** Files one load reads, includes and env files counted; beyond it the load is refused. */
export const filesMax = 10_000;

/** Includes inside includes; beyond it the load is refused. */
export const includeDepthMax = 100;

/** Nodes that aliases of one file may stand for, taken together; beyond it the file is refused (config 2). */
export const aliasNodesMax = 100_000;

/** Collections inside collections; deeper ones are refused. */
export const nestingMax = 100;

/** Problems that one load lists; the rest is counted only. */
export const problemsMax = 1_000;

/** A file of this many characters and more has its list of jobs parsed piece by piece. */
export const piecedFileCharactersMin = 16 * 1024;

/** Least characters of such a piece. What is made of a piece should be gone before the garbage collector takes it for lasting. */
export const pieceCharacters = 4 * 1024;

/** Warnings that one load keeps; the rest is counted only. */
export const warningsMax = 10_000;

/** Characters of an offending value that a message shows. */
export const shownCharactersMax = 80;
