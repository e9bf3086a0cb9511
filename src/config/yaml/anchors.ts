import { type Alias, type Document, isAlias, type ParsedNode, visit } from "yaml";

/** A node, null where nothing follows the key. */
export type Node = ParsedNode | null;

/** What the aliases of one document stand for, and how much they have stood for. */
export class Anchors {
  /** Nodes that aliases have stood for so far; bounded by whoever follows them. */
  aliased = 0;
  /** Set once something was nested too deeply, which is told once. */
  tooDeep = false;
  /** Set once an alias had no anchor before it. */
  missing = false;
  readonly #document: Document.Parsed<ParsedNode>;
  /** Anchored nodes in the order of the text; found when the first alias is. */
  #anchored: readonly ParsedNode[] | null = null;

  constructor(document: Document.Parsed<ParsedNode>) {
    this.#document = document;
  }

  /** The last node before the alias that carries its anchor. */
  resolve(alias: Alias.Parsed): Node {
    this.#anchored ??= anchoredIn(this.#document);
    const before = (node: ParsedNode): boolean => node.anchor === alias.source && node.range[0] < alias.range[0];
    const target = this.#anchored.findLast(before) ?? null;
    this.missing ||= target === null;
    return target;
  }
}

function anchoredIn(document: Document.Parsed<ParsedNode>): readonly ParsedNode[] {
  const anchored: ParsedNode[] = [];
  visit(document, {
    Node(_key, node) {
      const parsed = node as ParsedNode; // the document was parsed, so its nodes were
      if (!isAlias(parsed) && parsed.anchor !== undefined) anchored.push(parsed);
    },
  });
  return anchored;
}
