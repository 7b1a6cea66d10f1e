import type { Exec } from '@sluice/protocol';

/** What commands and containers have in common, read from values that expressions may have made. */

type Fields = Readonly<Record<string, unknown>>;

export interface Problem {
  readonly problem: string;
}

type Texts = { readonly texts: string[] } | Problem;

/** Numbers and truth values become texts, because expressions give them. */
export function readTexts(where: string, list: readonly unknown[]): Texts {
  const texts = list.map(textOf);
  const lost = texts.indexOf(undefined);
  if (lost >= 0) return { problem: notAllowed(`${where}[${lost}]`, list[lost]) };
  return { texts: texts as string[] };
}

type Shared = { readonly env: NonNullable<Exec['env']> } | Problem;

/** Checks the shared fields, and returns the variables as texts. */
export function readShared(given: Fields, rules: FieldRules = {}): Shared {
  const { env = {}, files = {} } = given;
  if (!isObject(env) || !isObject(files)) return { problem: 'exec.env and exec.files are objects' };
  const variables: Record<string, string | { readonly secret: string }> = {};
  for (const [name, value] of Object.entries(env)) {
    const isSecret = isObject(value) && 'secret' in value;
    const text = textOf(isSecret ? value.secret : value);
    if (text === undefined || !VARIABLE.test(name)) {
      return { problem: notAllowed(`exec.env.${name}`, value) };
    }
    variables[name] = isSecret ? { secret: text } : text;
  }
  for (const [name, value] of Object.entries(files)) {
    const isContent = typeof value === 'string' || (isObject(value) && isHash(value.blob));
    if (!isContent || !FILE.test(name)) return { problem: notAllowed(`exec.files.${name}`, value) };
  }
  const odd = oddField(given, { ...SHARED_RULES, ...rules });
  if (odd !== undefined) return { problem: notAllowed(`exec.${odd}`, given[odd]) };
  return { env: variables };
}

/** Says for each field whether a value is what it must be. */
export type FieldRules = Readonly<Record<string, (value: unknown) => boolean>>;

export const isText = (value: unknown) => typeof value === 'string';

const SHARED_RULES: FieldRules = {
  stdin: isText,
  user: isText,
  killGraceMs: (value) => typeof value === 'number' && value >= 0,
  outputs: (value) => {
    return (
      isObject(value) &&
      Object.values(value).every((path) => isText(path) && PATH.test(String(path)))
    );
  },
  retryableExitCodes: (value) => Array.isArray(value),
  avoidLastHost: (value) => typeof value === 'boolean',
};

/** The name of a field that is not what it must be. */
function oddField(given: Fields, rules: FieldRules): string | undefined {
  return Object.keys(rules).find((name) => given[name] !== undefined && !rules[name](given[name]));
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FILE = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const PATH = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** The operating system ends a text at a NUL. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && !value.includes('\0') ? value : undefined;
}

function notAllowed(where: string, value: unknown): string {
  const hint = value === null ? '; an expression that finds nothing gives null' : '';
  return `${where} is not allowed${hint}`;
}
