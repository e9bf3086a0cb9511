/** A YAML file read as section 2 says: scalars literal, places known, its jobs handed out one by one. */
import { type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, parseDocument } from "yaml";
import { pieceCharacters } from "../limits.ts";
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

type Parsed = Document.Parsed<ParsedNode>;

/**
 * Reads the text of one file. What YAML itself refuses goes to `onTrouble`; the file is null when there is nothing to go on with.
 * An empty file, or one of comments alone, is an empty mapping.
 */
export function readYaml(file: string, text: string, onTrouble: (at: Place, problem: string) => void): YamlFile | null {
  const lines = new Lines(file, text);
  const trouble = ({ offset, problem }: Trouble): void => onTrouble(lines.place(offset), problem);
  const pieces = piecesOf(text, pieceCharacters);
  return (pieces === null ? null : readPieces(text, pieces, lines, trouble)) ?? readWhole(text, lines, trouble);
}

function readWhole(text: string, lines: Lines, trouble: (trouble: Trouble) => void): YamlFile | null {
  const document = parse(text);
  for (const { pos, message } of document.errors) trouble({ offset: pos[0], problem: yamlProblem(message) });
  if (document.errors.length > 0) return null;
  const anchors = new Anchors(document);
  const frame = frameOf(document, anchors, lines, trouble);
  if (frame === null) return null;
  const jobs = valueOf(document, anchors, "jobs");
  return {
    frame,
    *jobs() {
      for (const item of isSeq(jobs) ? jobs.items : []) {
        const node = item as ParsedNode;
        yield fragment(node, rawOf(node, anchors, trouble), anchors, lines, 0);
      }
    },
  };
}

/** Null where the parts do not fit together: the file is then read as a whole, which finds what is wrong. */
function readPieces(text: string, pieces: Pieces, lines: Lines, trouble: (trouble: Trouble) => void): YamlFile | null {
  const document = parse(pieces.frame);
  if (document.errors.length > 0) return null;
  const anchors = new Anchors(document);
  if (!leavesJobsBlank(document, pieces.keyAt)) return null;
  const troubles: Trouble[] = [];
  const frame = frameOf(document, anchors, lines, (found) => troubles.push(found));
  if (frame === null || anchors.missing) return null;
  troubles.forEach(trouble);
  return {
    frame: { ...frame, value: { ...frame.value, jobs: [] } },
    *jobs() {
      let count = 0;
      for (const { start, end } of pieces.parts) {
        const part = parse(text.slice(start, end));
        const items = part.errors.length === 0 && isSeq(part.contents) ? part.contents.items : null;
        const partAnchors = new Anchors(part);
        partAnchors.aliased = anchors.aliased;
        for (const item of items ?? []) {
          const node = item as ParsedNode;
          const troubles: Trouble[] = [];
          const value = rawOf(node, partAnchors, (found) => troubles.push(found));
          if (partAnchors.missing) break;
          for (const found of troubles) trouble({ ...found, offset: found.offset + start });
          yield fragment(node, value, partAnchors, lines, start);
          count++;
        }
        if (items === null || partAnchors.missing) {
          const whole = readWhole(text, lines, trouble);
          yield* whole === null ? [] : from(whole.jobs(), count);
          return;
        }
        anchors.aliased = partAnchors.aliased;
      }
    },
  };
}

/** Whether the key before the blanked list is the root's own `jobs`, and has nothing left. */
function leavesJobsBlank(document: Parsed, keyAt: number): boolean {
  const root = document.contents as Node;
  if (!isMap(root)) return false;
  const pair = root.items.find(({ key }) => key.range[0] === keyAt);
  if (pair === undefined) return false;
  return pair.value === null || (isScalar(pair.value) && pair.value.value === "");
}

function* from<T>(items: Iterable<T>, first: number): Iterable<T> {
  let index = 0;
  for (const item of items) if (index++ >= first) yield item;
}

function parse(text: string): Parsed {
  return parseDocument(text, { schema: "failsafe", uniqueKeys: false, prettyErrors: false, logLevel: "error" });
}

/** The parser's own words, but for what section 2 words itself. */
function yamlProblem(message: string): string {
  if (message.startsWith("Source contains multiple documents")) return "expected a single document in the stream";
  return `not valid YAML: ${message}`;
}

/** The file's root as a value; null, and a trouble, when it is no mapping. `jobs` is left out of it where it is a list. */
function frameOf(
  document: Parsed,
  anchors: Anchors,
  lines: Lines,
  trouble: (trouble: Trouble) => void,
): Fragment<RawMap> | null {
  const root = document.contents as Node;
  const isEmpty = root === null || (!isMap(root) && !isSeq(root) && rawOf(root, anchors, () => {}) === "");
  if (isEmpty) return fragment(root, {}, anchors, lines, 0);
  if (!isMap(root)) {
    const problem = `when expecting a mapping, ${found(rawOf(root, anchors, () => {}))}`;
    trouble({ offset: root.range[0], problem });
    return null;
  }
  const jobs = valueOf(document, anchors, "jobs");
  const raw: { [key: string]: Raw } = Object.create(null);
  for (const pair of root.items) {
    const name = keyOf(pair.key, trouble);
    if (name === null) continue;
    if (Object.hasOwn(raw, name)) trouble({ offset: pair.key.range[0], problem: `Duplicate key '${name}' found` });
    else raw[name] = name === "jobs" && isSeq(jobs) ? [] : rawOf(pair.value, anchors, trouble);
  }
  return fragment(root, raw, anchors, lines, 0);
}

function fragment<T extends Raw>(node: Node, value: T, anchors: Anchors, lines: Lines, start: number): Fragment<T> {
  return {
    value,
    place: (path, target) => lines.place(start + (nodeAt(node, path, anchors, target)?.range[0] ?? 0)),
  };
}

function valueOf(document: Parsed, anchors: Anchors, key: string): Node {
  const root = document.contents as Node;
  if (!isMap(root)) return null;
  const value = root.items.find((pair) => isScalar(pair.key) && pair.key.value === key)?.value ?? null;
  return isAlias(value) ? anchors.resolve(value) : value;
}
