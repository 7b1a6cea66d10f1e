import { BYTES, LIMITS, ROUTES, type Route, repeatability } from '@sluice/protocol';

/** What forwarding has to know about a request, as the protocol's table of routes has it. */
export interface Traits {
  /** The pattern of the route; undefined for unknown paths and pages of the console. */
  readonly route: string | undefined;
  readonly repeatable: ReturnType<typeof repeatability>;
  /** The request may have one key instead of one for each item. */
  readonly takesKey: boolean;
  /** The body may be large: it is passed on as it arrives, and can be sent only once. */
  readonly isUpload: boolean;
  /** The answer is a stream of events, or comes after a wait that the client asked for. */
  readonly isLong: boolean;
  /** How long the owner may take to begin its answer; undefined for streams. */
  readonly headMsMax: number | undefined;
}

/** What the owner may take on top of the wait that the client asked for. */
const ANSWER_MS_MAX = 10_000;

interface Entry {
  readonly pattern: RegExp;
  readonly route: Route;
  readonly waits: Waits;
}

/** Where a route takes the time to wait, if it waits. */
type Waits = 'waitMs' | 'timeoutMs' | 'in_body' | 'never';

const ENTRIES = new Map<string, Entry[]>();
for (const route of Object.values<Route>(ROUTES)) {
  const pattern = new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const key = keyOf(route.method, route.path);
  const entries = ENTRIES.get(key) ?? [];
  ENTRIES.set(key, [...entries, { pattern, route, waits: waitsOf(route) }]);
}

export function traitsOf(method: string, url: string): Traits {
  const [path, query = ''] = url.split('?', 2);
  const asked = method === 'HEAD' ? 'GET' : method;
  const entry = ENTRIES.get(keyOf(asked, path))?.find(({ pattern }) => pattern.test(path));
  if (entry === undefined) {
    const repeatable = asked === 'GET' ? 'always' : 'never';
    const plain = { takesKey: false, isUpload: false, isLong: false, headMsMax: ANSWER_MS_MAX };
    return { route: undefined, repeatable, ...plain };
  }
  const { route } = entry;
  const isStream = streams(route, query);
  const waitMs = waitMsOf(entry, query);
  return {
    route: route.path,
    repeatable: repeatability(route),
    takesKey: route.headers !== undefined,
    isUpload: route.body === BYTES,
    isLong: isStream || waitMs > 0,
    headMsMax: isStream ? undefined : waitMs + ANSWER_MS_MAX,
  };
}

/** The first two parts of a path find the few routes that it may belong to. */
function keyOf(method: string, path: string): string {
  const [, first, second = ''] = path.split('/', 3);
  return `${method} ${first}/${second}`;
}

function fieldsOf(schema: Route['query'] | Route['body']): object {
  return (schema as { properties?: object } | undefined)?.properties ?? {};
}

function waitsOf({ query, body }: Route): Waits {
  const fields = fieldsOf(query);
  if ('waitMs' in fields) return 'waitMs';
  if ('timeoutMs' in fields) return 'timeoutMs';
  return 'timeoutMs' in fieldsOf(body) ? 'in_body' : 'never';
}

function waitMsOf({ waits }: Entry, query: string): number {
  if (waits === 'never') return 0;
  // Nobody parses the body here, and a longer time does no harm.
  if (waits === 'in_body') return LIMITS.waitMsMax;
  const text = new URLSearchParams(query).get(waits);
  if (text === null) return waits === 'timeoutMs' ? LIMITS.waitMsDefault : 0;
  const waitMs = Number(text);
  return waitMs >= 0 ? Math.min(waitMs, LIMITS.waitMsMax) : 0;
}

function streams(route: Route, query: string): boolean {
  if (Object.values(route.answers).includes('text/event-stream')) return true;
  if (!('follow' in fieldsOf(route.query))) return false;
  const follow = new URLSearchParams(query).get('follow');
  return follow !== null && follow !== 'false';
}
