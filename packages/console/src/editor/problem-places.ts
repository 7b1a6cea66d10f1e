/** Where the problems of a text are: the server names paths, an editor needs positions. */
import { jsonLanguage } from '@codemirror/lang-json';
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml';

export interface Problem {
  /** A JSON pointer, such as `/tasks/0/name`. */
  readonly path: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** A part of one line of the text. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/** Texts that begin with a bracket are JSON. */
export function isJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

/**
 * The places of some paths. A path that is not in the text, such as that of a missing field, has
 * the place of the nearest part that is. JSON is YAML, so one reader suffices.
 */
export function placesOf(text: string, paths: readonly string[]): Place[] {
  const { contents } = parseDocument(text, { uniqueKeys: false });
  return paths.map((path) => {
    const segments = path.split('/').slice(1).map(unescaped);
    return onOneLine(text, placeIn(contents as Node | null, segments));
  });
}

/** The problem that keeps a text from being read; undefined when it can be read. */
export function syntaxProblem(text: string): (Place & { readonly message: string }) | undefined {
  if (isJson(text)) {
    try {
      JSON.parse(text);
      return undefined;
    } catch (cause) {
      const { message } = cause as Error;
      const from = firstJsonError(text);
      return { ...onOneLine(text, { from, to: from + 1 }), message };
    }
  }
  const error = parseDocument(text).errors.at(0);
  if (error === undefined) return undefined;
  const [from, to] = error.pos;
  return { ...onOneLine(text, { from, to }), message: error.message.split('\n')[0] };
}

/** The first part that the grammar does not know; browsers do not always say where it is. */
function firstJsonError(text: string): number {
  let first: number | undefined;
  jsonLanguage.parser.parse(text).iterate({
    enter: ({ type, from }) => {
      if (type.isError) first ??= from;
      return first === undefined;
    },
  });
  return first ?? 0;
}

function placeIn(root: Node | null, segments: readonly string[]): Place {
  let node = root;
  let place = spanOf(node);
  for (const segment of segments) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === segment);
      if (pair === undefined) return place;
      place = pairPlace(pair as Pair<Node, Node | null>);
      node = (pair.value ?? null) as Node | null;
    } else if (isSeq(node)) {
      const item = node.items[Number(segment)] as Node | undefined;
      if (item === undefined) return place;
      node = item;
      place = spanOf(item);
    } else {
      return place;
    }
  }
  return place;
}

/** A name with a plain value; of a larger value only the name. */
function pairPlace({ key, value }: Pair<Node, Node | null>): Place {
  const name = spanOf(key);
  return isScalar(value) ? { from: name.from, to: spanOf(value).to } : name;
}

function spanOf(node: Node | null): Place {
  const [from, to] = node?.range ?? [0, 0, 0];
  return { from, to };
}

function onOneLine(text: string, { from, to }: Place): Place {
  const start = Math.min(from, text.length);
  const newline = text.indexOf('\n', start);
  const end = Math.min(Math.max(to, start + 1), newline === -1 ? text.length : newline);
  // An error at the end of a line marks the character before it.
  return end > start ? { from: start, to: end } : { from: Math.max(0, start - 1), to: start };
}

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
