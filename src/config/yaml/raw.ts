/** YAML as plain values: every scalar its literal text (config 2), lists, and mappings without a prototype. */
import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from "yaml";
import { quoted } from "../../schedule/schedule-error.ts";
import { aliasNodesMax, nestingMax } from "../limits.ts";
import type { Anchors, Node } from "./anchors.ts";

export type Raw = string | readonly Raw[] | RawMap;
export interface RawMap {
  readonly [key: string]: Raw;
}

/** Something in the text that this dialect does not have. */
export interface Trouble {
  readonly offset: number;
  readonly problem: string;
}

const noOpTags = new Set(["tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"]);

/** A lone half of a surrogate pair, which an escape can smuggle into UTF-8. */
const loneSurrogate = /[\ud800-\udfff]/u;

/** Converts a node. What is wrong goes to `trouble`; the value is whole only when nothing did. */
export function rawOf(node: Node, anchors: Anchors, trouble: (trouble: Trouble) => void): Raw {
  return convert(node, { anchors, trouble, depth: 0, inAlias: false });
}

interface Conversion {
  readonly anchors: Anchors;
  readonly trouble: (trouble: Trouble) => void;
  readonly depth: number;
  readonly inAlias: boolean;
}

function convert(node: Node, conversion: Conversion): Raw {
  if (node === null) return "";
  const { anchors, trouble, inAlias } = conversion;
  const at = node.range[0];
  if (inAlias && ++anchors.aliased > aliasNodesMax) {
    if (anchors.aliased === aliasNodesMax + 1)
      trouble({ offset: at, problem: `aliases stand for more than ${aliasNodesMax} nodes in this file` });
    return "";
  }
  if (isScalar(node)) return textOf(node, trouble);
  if (isAlias(node)) {
    const target = anchors.resolve(node);
    if (target === null) trouble({ offset: at, problem: `alias *${node.source} has no anchor before it` });
    return target === null ? "" : convert(target, deeper(conversion, at, true));
  }
  refuseTag(node.tag, at, trouble);
  const inside = deeper(conversion, at, inAlias);
  if (inside.depth > nestingMax) return "";
  return isSeq(node) ? node.items.map((item) => convert(item, inside)) : mapOf(node, inside);
}

function deeper(conversion: Conversion, at: number, inAlias: boolean): Conversion {
  const depth = conversion.depth + 1;
  if (depth > nestingMax && !conversion.anchors.tooDeep) {
    conversion.anchors.tooDeep = true;
    conversion.trouble({ offset: at, problem: `nested more than ${nestingMax} levels deep` });
  }
  return { ...conversion, depth, inAlias };
}

function mapOf(map: YAMLMap.Parsed, conversion: Conversion): RawMap {
  const raw: { [key: string]: Raw } = Object.create(null);
  for (const { key, value } of map.items) {
    const name = keyOf(key, conversion.trouble);
    if (name === null) continue;
    if (Object.hasOwn(raw, name))
      conversion.trouble({ offset: key.range[0], problem: `Duplicate key ${quoted(name)} found` });
    else raw[name] = convert(value, conversion);
  }
  return raw;
}

/** The text of a mapping's key; null, and a trouble, for a key that is a collection. */
export function keyOf(key: ParsedNode, trouble: (trouble: Trouble) => void): string | null {
  if (isScalar(key)) return textOf(key, trouble);
  trouble({ offset: key.range[0], problem: "a key must be plain or quoted text" });
  return null;
}

function textOf(scalar: Scalar.Parsed, trouble: (trouble: Trouble) => void): string {
  refuseTag(scalar.tag, scalar.range[0], trouble);
  const text = typeof scalar.value === "string" ? scalar.value : "";
  if (scalar.type === "QUOTE_DOUBLE" && loneSurrogate.test(text))
    trouble({ offset: scalar.range[0], problem: "half of a surrogate pair is not text" });
  return text;
}

function refuseTag(tag: string | undefined, offset: number, trouble: (trouble: Trouble) => void): void {
  if (tag !== undefined && !noOpTags.has(tag))
    trouble({ offset, problem: `Found disallowed tag ${tag}; a key's own type reads its text, so leave the tag out` });
}

/** The node at a path inside another, or the last one on the way that exists; `key`: the key's node rather than its value's. */
export function nodeAt(
  root: Node,
  path: readonly (string | number)[],
  anchors: Anchors,
  target: "key" | "value",
): Node {
  let node = root;
  for (const [index, step] of path.entries()) {
    const here: Node = isAlias(node) ? anchors.resolve(node) : node;
    if (isMap(here)) {
      const pair = here.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair === undefined) return node;
      const last = index === path.length - 1;
      node = last && target === "key" ? pair.key : (pair.value ?? pair.key);
    } else if (isSeq(here) && typeof step === "number") {
      const item = here.items[step];
      if (item === undefined) return node;
      node = item;
    } else return node;
  }
  return node;
}
