/** A YAML file read as section 2 says: scalars literal, places known, its jobs handed out one by one. */
import { type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, parseDocument } from "yaml";
import { quoted } from "../../schedule/schedule-error.ts";
import type { Place } from "../model.ts";
import { found } from "../options/scalars.ts";
import type { Step } from "../problem.ts";
import { Anchors, type Node } from "./anchors.ts";
import { Lines } from "./lines.ts";
import { type Pieces, piecesOf } from "./pieces.ts";
import { keyOf, nodeAt, type Raw, type RawMap, rawOf, type Trouble } from "./raw.ts";

/** A value of the file, and where its parts stand. */
export interface Fragment<T extends Raw = Raw> {
  readonly value: T;
  /** Where the value at `path` inside stands, or its key; the nearest that exists where nothing is there. */
  place(path: readonly Step[], target: "key" | "value"): Place;
}

export interface YamlFile {
  /** All of the file; in place of the jobs an empty list, if `jobs` is a list. */
  readonly frame: Fragment<RawMap>;
  /** The items of `jobs` in order. Troubles in them are told on the way. */
  jobs(): Iterable<Fragment>;
}

/** A document, which may be a part of the file's text. */
interface Part {
  readonly document: Document.Parsed<ParsedNode>;
  readonly anchors: Anchors;
  /** Where an offset of the document is in the file. */
  readonly placeOf: (offset: number) => Place;
}

type OnTrouble = (at: Place, problem: string) => void;

/**
 * Reads the text of one file. What YAML itself refuses goes to `onTrouble`; the file is null when there is nothing to go on with.
 * An empty file, or one of comments alone, is an empty mapping.
 */
export function readYaml(file: string, text: string, onTrouble: OnTrouble): YamlFile | null {
  const lines = new Lines(file, text);
  const pieces = piecesOf(text);
  return (pieces === null ? null : readPieces(text, pieces, lines, onTrouble)) ?? readWhole(text, lines, onTrouble);
}

function readWhole(text: string, lines: Lines, onTrouble: OnTrouble): YamlFile | null {
  const whole = parse(text, (offset) => lines.place(offset));
  const { errors } = whole.document;
  for (const { pos, message } of errors) onTrouble(whole.placeOf(pos[0]), yamlProblem(message));
  const frame = errors.length > 0 ? null : frameOf(whole, onTrouble);
  if (frame === null) return null;
  const jobs = listOfJobs(whole);
  return {
    frame,
    *jobs() {
      for (const item of jobs ?? []) yield fragmentOf(item, whole, onTrouble);
    },
  };
}

/** Null where the parts do not fit together: the file is then read as a whole, which finds what is wrong. */
function readPieces(text: string, pieces: Pieces, lines: Lines, onTrouble: OnTrouble): YamlFile | null {
  const rest = parse(pieces.frame, (offset) => lines.place(pieces.offsetInFile(offset)));
  if (rest.document.errors.length > 0 || !leavesJobsBlank(rest, pieces.keyAt)) return null;
  const troubles: (readonly [Place, string])[] = [];
  const frame = frameOf(rest, (at, problem) => troubles.push([at, problem]));
  if (frame === null || rest.anchors.missing) return null;
  for (const [at, problem] of troubles) onTrouble(at, problem);
  return {
    frame: { ...frame, value: { ...frame.value, jobs: [] } },
    *jobs() {
      let count = 0;
      let { aliased } = rest.anchors;
      for (const { start, end } of pieces.parts) {
        const part = parse(text.slice(start, end), (offset) => lines.place(offset + start));
        part.anchors.aliased = aliased;
        for (const item of itemsOf(part)) {
          const inItem: (readonly [Place, string])[] = [];
          const fragment = fragmentOf(item, part, (at, problem) => inItem.push([at, problem]));
          if (part.anchors.missing) break;
          for (const [at, problem] of inItem) onTrouble(at, problem);
          yield fragment;
          count++;
        }
        if (part.document.errors.length > 0 || part.anchors.missing) {
          yield* after(count, readWhole(text, lines, onTrouble)?.jobs() ?? []);
          return;
        }
        aliased = part.anchors.aliased;
      }
    },
  };
}

function itemsOf({ document }: Part): readonly ParsedNode[] {
  if (document.errors.length > 0 || !isSeq(document.contents)) return [];
  return document.contents.items as ParsedNode[]; // the document was parsed, so its nodes were
}

function* after<T>(count: number, items: Iterable<T>): Iterable<T> {
  let index = 0;
  for (const item of items) if (index++ >= count) yield item;
}

/** Whether the key before the list that was taken out is the root's own `jobs`, and has nothing left. */
function leavesJobsBlank({ document }: Part, keyAt: number): boolean {
  const root = document.contents as Node;
  const pair = isMap(root) ? root.items.find(({ key }) => key.range[0] === keyAt) : undefined;
  if (pair === undefined) return false;
  return pair.value === null || (isScalar(pair.value) && pair.value.value === "");
}

function parse(text: string, placeOf: (offset: number) => Place): Part {
  // "error" keeps the parser from printing; unique keys are looked for here, in less than quadratic time.
  const document = parseDocument(text, {
    schema: "failsafe",
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  return { document, anchors: new Anchors(document), placeOf };
}

/** The parser's own words, but for what section 2 words itself. */
function yamlProblem(message: string): string {
  if (message.startsWith("Source contains multiple documents")) return "expected a single document in the stream";
  return `not valid YAML: ${message}`;
}

/** The file's root as a value; null, and a trouble, when it is no mapping. `jobs` is left out of it where it is a list. */
function frameOf(part: Part, onTrouble: OnTrouble): Fragment<RawMap> | null {
  const root = part.document.contents as Node;
  if (root === null || (isScalar(root) && root.value === "")) return { value: {}, place: () => part.placeOf(0) };
  if (!isMap(root)) {
    const value = rawOf(root, part.anchors, () => {});
    onTrouble(part.placeOf(root.range[0]), `when expecting a mapping, ${found(value)}`);
    return null;
  }
  const trouble = ({ offset, problem }: Trouble): void => onTrouble(part.placeOf(offset), problem);
  const jobs = listOfJobs(part);
  const raw: { [key: string]: Raw } = Object.create(null);
  for (const { key, value } of root.items) {
    const name = keyOf(key, trouble);
    if (name === null) continue;
    if (Object.hasOwn(raw, name)) trouble({ offset: key.range[0], problem: `Duplicate key ${quoted(name)} found` });
    else raw[name] = name === "jobs" && jobs !== null ? [] : rawOf(value, part.anchors, trouble);
  }
  return located(root, raw, part);
}

function fragmentOf(node: ParsedNode, part: Part, onTrouble: OnTrouble): Fragment {
  const trouble = ({ offset, problem }: Trouble): void => onTrouble(part.placeOf(offset), problem);
  return located(node, rawOf(node, part.anchors, trouble), part);
}

function located<T extends Raw>(node: Node, value: T, { anchors, placeOf }: Part): Fragment<T> {
  return { value, place: (path, target) => placeOf(nodeAt(node, path, anchors, target)?.range[0] ?? 0) };
}

/** The nodes under the root's `jobs`; null where that is no list. */
function listOfJobs({ document, anchors }: Part): readonly ParsedNode[] | null {
  const root = document.contents as Node;
  const pair = isMap(root) ? root.items.find(({ key }) => isScalar(key) && key.value === "jobs") : undefined;
  const value = isAlias(pair?.value) ? anchors.resolve(pair.value) : pair?.value;
  return isSeq(value) ? (value.items as ParsedNode[]) : null; // the document was parsed, so its nodes were
}
