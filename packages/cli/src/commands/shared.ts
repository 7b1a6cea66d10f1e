import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { repeatedName } from '@sluice/protocol/body-rules';
import { inexactNumber } from '@sluice/protocol/exact-numbers';
import { LIMITS } from '@sluice/protocol/limits';
import type { Page } from '../api/answers.ts';
import { ApiCaller } from '../api/api-caller.ts';
import type { CommandIo } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';

/** Flags of every command that calls a server. */
export const SERVER_FLAGS = {
  url: { value: 'URL', help: 'address of the server (default SLUICE_URL or 127.0.0.1:7420)' },
  json: { help: 'print the answer as JSON' },
} as const;

export interface ServerFlags {
  readonly url?: string;
  readonly json?: boolean;
}

export function connect({ url }: ServerFlags, { env, stop }: CommandIo): ApiCaller {
  return new ApiCaller({ url, env, signal: stop });
}

/** Prints data as JSON for programs, or as `render` formats it for users. */
export function print<T>(
  io: CommandIo,
  { json = false }: ServerFlags,
  value: T,
  render: (value: T) => string,
): void {
  io.stdout(json ? JSON.stringify(value, null, 2) : render(value));
}

/** Columns of the terminal; undefined without one, because then nothing is cut. */
export function widthOf({ terminal }: CommandIo): number | undefined {
  return terminal.isStdout ? terminal.columns : undefined;
}

/** The items of a list, page after page, up to `limit` of them, and the cursor of the rest. */
export async function readList<T>(
  api: ApiCaller,
  path: string,
  { query = new URLSearchParams(), limit = Number.POSITIVE_INFINITY }: ListOptions = {},
): Promise<Page<T>> {
  const items: T[] = [];
  let cursor: string | null = '';
  while (cursor !== null && items.length < limit) {
    query.set('limit', String(Math.min(PAGE_MAX, limit - items.length)));
    if (cursor !== '') query.set('cursor', cursor);
    const page: Page<T> = await api.get(`${path}?${query}`, ['items']);
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return { items, nextCursor: cursor };
}

/**
 * Prints a list with its cursor as JSON, or as a table. It says when the list is empty or
 * incomplete.
 */
export function printList<T>(
  io: CommandIo,
  flags: ServerFlags,
  list: Page<T>,
  shown: {
    readonly none: string;
    readonly table: (items: readonly T[], columns: number | undefined) => string;
  },
): void {
  if (list.items.length === 0 && flags.json !== true) io.stderr(shown.none);
  else print(io, flags, list, ({ items }) => shown.table(items, widthOf(io)));
  if (list.nextCursor !== null) io.stderr('there are more; use --limit to see them');
}

/** The value of `--limit`. */
export function limitOf(text: string | undefined): number | undefined {
  const limit = integerOf(text, 'limit');
  if (limit === 0) throw new UsageError('--limit must be greater than 0');
  return limit;
}

interface ListOptions {
  readonly query?: URLSearchParams;
  readonly limit?: number;
}

const PAGE_MAX = 1000;

export function integerOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`--${flag} must be a whole number, not '${text}'`);
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a duration as `DURATION_RULE` in help describes it. */
export function durationOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit = 'ms'] = /^(\d{1,12}(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (number !== undefined) return Math.round(Number(number) * UNITS[unit]);
  throw new UsageError(`--${flag} must be a time such as 500ms, 30s, 5m, 2h or 1d, not '${text}'`);
}

/** A value as JSON: literal, `@file`, or `-` for stdin. */
export async function jsonOf(
  text: string | undefined,
  flag: string,
  io: CommandIo,
): Promise<unknown> {
  if (text === undefined) return undefined;
  const json = await textOf(text, flag, io);
  const value = parseJson(json, text, flag);
  const twice = repeatedName(json, value);
  if (twice !== undefined) throw new UsageError(`--${flag}: ${twice.path} ${twice.problem}`);
  const inexact = inexactNumber(json);
  if (inexact === undefined) return value;
  const where = inexact.path === '' ? '' : ` at ${inexact.path}`;
  throw new UsageError(
    `--${flag} has a number${where} that a double cannot hold exactly: send ${inexact.number} as text`,
  );
}

function parseJson(json: string, text: string, flag: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    const isPlain = /^[A-Za-z][\w .-]*$/.test(text);
    const hint = isPlain ? `; a text needs double quotes: --${flag} '"${text}"'` : '';
    throw new UsageError(`--${flag} is not JSON: ${(cause as Error).message}${hint}`);
  }
}

/** An input that is too big for a request is uploaded first. */
export async function inputOf(
  api: ApiCaller,
  input: unknown,
): Promise<{ input?: unknown } | { inputBlob: string }> {
  const text = JSON.stringify(input) ?? '';
  if (Buffer.byteLength(text) <= LIMITS.payloadBytesMax) return { input };
  return { inputBlob: (await api.putBlob(text)).sha256 };
}

async function textOf(text: string, flag: string, io: CommandIo): Promise<string> {
  if (text !== '-' && !text.startsWith('@')) return text;
  const bytes = await bytesOf(text === '-' ? text : text.slice(1), `--${flag}`, io);
  // Invalid bytes would be replaced silently.
  if (!isUtf8(bytes)) throw new UsageError(`--${flag} is not valid UTF-8, as JSON must be`);
  return bytes.toString();
}

/** The content of a file, or stdin when its name is `-`. */
export async function bytesOf(file: string, what: string, io: CommandIo): Promise<Buffer> {
  if (file === '-') return io.readStdin();
  try {
    return await readFile(file);
  } catch (cause) {
    throw new UsageError(`cannot read ${what}: ${(cause as Error).message}`);
  }
}

export function tagsOf(given: readonly string[] | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new UsageError(`--tag must be NAME=VALUE, not '${text}'`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/** The values without undefined ones. */
export function stated<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}
