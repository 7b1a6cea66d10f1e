import type { CommandExec } from '@sluice/protocol';

/**
 * Reads what a task says of its command. The server has checked it, unless expressions of a
 * workflow made it. Numbers and truth values become texts, because expressions give them.
 */
export function readExec(given: unknown): CommandExec | { readonly problem: string } {
  if (!isObject(given)) return { problem: 'the task has no exec' };
  const { command, env = {}, files = {} } = given;
  if (!Array.isArray(command) || command.length === 0) {
    return { problem: 'exec.command must be a list of the program and its arguments' };
  }
  const words = command.map(textOf);
  const lost = words.indexOf(undefined);
  if (lost >= 0) return { problem: notText(`exec.command[${lost}]`, command[lost]) };
  if (!isObject(env) || !isObject(files)) return { problem: 'exec.env and exec.files are objects' };
  const variables: Record<string, string | { readonly secret: string }> = {};
  for (const [name, value] of Object.entries(env)) {
    const isSecret = isObject(value) && 'secret' in value;
    const text = textOf(isSecret ? value.secret : value);
    if (text === undefined || !VARIABLE.test(name)) {
      return { problem: notText(`exec.env.${name}`, value) };
    }
    variables[name] = isSecret ? { secret: text } : text;
  }
  for (const [name, value] of Object.entries(files)) {
    const isContent = typeof value === 'string' || (isObject(value) && isHash(value.blob));
    if (!isContent || !FILE.test(name)) return { problem: notText(`exec.files.${name}`, value) };
  }
  const odd = oddField(given);
  if (odd !== undefined) return { problem: notText(`exec.${odd}`, given[odd]) };
  return { ...(given as CommandExec), command: words as string[], env: variables };
}

const isText = (value: unknown) => typeof value === 'string';

/** What the other fields must be. */
const RULES: Readonly<Record<string, (value: unknown) => boolean>> = {
  cwd: isText,
  stdin: isText,
  user: isText,
  killGraceMs: (value) => typeof value === 'number' && value >= 0,
  outputs: (value) => isObject(value) && Object.values(value).every(isText),
  retryableExitCodes: (value) => Array.isArray(value),
};

/** The name of a field that is not what it must be. */
function oddField(given: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(RULES).find((name) => given[name] !== undefined && !RULES[name](given[name]));
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FILE = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
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

function notText(where: string, value: unknown): string {
  const hint = value === null ? '; an expression that finds nothing gives null' : '';
  return `${where} is not allowed${hint}`;
}
