import { parseArgs } from 'node:util';
import { suggest } from './suggestion.ts';

/** The command line makes no sense; the message says why and what to do. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Flags = Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>;

/** Reads flags; unknown ones get a suggestion. */
export function parseFlags<F extends Flags>(
  args: readonly string[],
  flags: F,
): { [K in keyof F]?: F[K]['type'] extends 'string' ? string : boolean } {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals: false }).values as never;
  } catch (cause) {
    throw new UsageError(explain(cause as NodeJS.ErrnoException, flags), { cause });
  }
}

function explain(error: NodeJS.ErrnoException, flags: Flags): string {
  const flag = /'(-[^' ]+)/.exec(error.message)?.[1] ?? '';
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const close = suggest(flag.replace(/^-+/, ''), Object.keys(flags));
    return `unknown flag ${flag}${close === undefined ? '' : `; did you mean --${close}?`}`;
  }
  if (error.code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    return error.message.replace(/\. .*/s, '').replace('Unexpected', 'unexpected');
  }
  return `${flag} needs a value`;
}
