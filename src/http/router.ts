import type { Scope } from "../config/model.ts";

/** What a router is made of: a method and a path such as `/jobs/{name}/runs`. */
export interface Routed {
  readonly method: "GET" | "POST" | "DELETE" | "OPTIONS";
  readonly path: string;
  readonly scope: Scope;
}

export type Match<R> =
  | { readonly kind: "route"; readonly route: R; readonly params: Params }
  | { readonly kind: "wrong method"; readonly allow: string }
  | { readonly kind: "no route" };

/** Path parameters, decoded. */
export type Params = Readonly<Record<string, string>>;

export type Router<R> = (method: string, path: string) => Match<R>;

interface Node<R> {
  readonly literals: Map<string, Node<R>>;
  wildcard: Node<R> | null;
  place: Place<R> | null;
}

interface Place<R> {
  readonly names: readonly string[];
  readonly routes: Map<string, R>;
}

const noParams: Params = {};
const noRoute = { kind: "no route" } as const;

/**
 * Matches the path as it came (http 3.2): exactly, case-sensitively, without folding slashes or dots. A `{name}` is one segment, decoded
 * after the match, so an encoded slash is part of the name. A GET route answers HEAD too.
 */
export function createRouter<R extends Routed>(routes: readonly R[]): Router<R> {
  const root: Node<R> = emptyNode();
  const whole = new Map<string, Place<R>>();
  for (const route of routes) {
    const segments = route.path.slice(1).split("/");
    let node = root;
    const names: string[] = [];
    for (const segment of segments) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name === undefined) node = literal(node, segment);
      else {
        names.push(name);
        node.wildcard ??= emptyNode();
        node = node.wildcard;
      }
    }
    node.place ??= { names, routes: new Map() };
    node.place.routes.set(route.method, route);
    if (names.length === 0) whole.set(route.path, node.place);
  }

  return (method, path) => {
    const values: string[] = [];
    const place = whole.get(path) ?? (path.startsWith("/") ? find(root, path, 1, values) : null);
    if (place === null) return noRoute;
    const params = place.names.length === 0 ? noParams : decoded(place.names, values);
    if (params === null) return noRoute;
    const route = place.routes.get(method === "HEAD" ? "GET" : method);
    if (route === undefined) return { kind: "wrong method", allow: allowed(place) };
    return { kind: "route", route, params };
  };
}

/** Follows the path from `at`, literal segments before wildcards; puts what wildcards took into `values`. */
function find<R>(node: Node<R>, path: string, at: number, values: string[]): Place<R> | null {
  const slash = path.indexOf("/", at);
  const segment = slash === -1 ? path.slice(at) : path.slice(at, slash);
  const go = (next: Node<R> | null | undefined): Place<R> | null => {
    if (next === null || next === undefined) return null;
    return slash === -1 ? next.place : find(next, path, slash + 1, values);
  };
  const exact = go(node.literals.get(segment));
  if (exact !== null) return exact;
  if (segment === "" || node.wildcard === null) return null;
  const depth = values.push(segment);
  const found = go(node.wildcard);
  if (found === null) values.length = depth - 1;
  return found;
}

/** Null when a segment is no encoded text: no name is spelled like that. */
function decoded(names: readonly string[], values: readonly string[]): Params | null {
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? "";
    try {
      params[name] = value.includes("%") ? decodeURIComponent(value) : value;
    } catch {
      return null;
    }
  }
  return params;
}

function allowed<R>({ routes }: Place<R>): string {
  return [...routes.keys()].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(",");
}

function emptyNode<R>(): Node<R> {
  return { literals: new Map(), wildcard: null, place: null };
}

function literal<R>(node: Node<R>, segment: string): Node<R> {
  let next = node.literals.get(segment);
  if (next === undefined) {
    next = emptyNode();
    node.literals.set(segment, next);
  }
  return next;
}
