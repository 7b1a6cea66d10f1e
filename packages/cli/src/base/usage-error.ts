import { suggest } from '@sluice/protocol/suggestion';

/** The command line is invalid; the message says why and what to do. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Describes a problem with flags. */
export function flagProblem(error: NodeJS.ErrnoException, known: readonly string[]): string {
  // A flag with a short form is named as '-p, --priority <value>'.
  const flag = /'(?:-\w, )?(-[^' ]+)/.exec(error.message)?.[1] ?? '';
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const close = suggest(flag.replace(/^-+/, ''), known);
    return `unknown flag ${flag}${close === undefined ? '' : `; did you mean --${close}?`}`;
  }
  if (error.code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    return error.message.replace(/\. .*/s, '').replace('Unexpected', 'unexpected');
  }
  return / does not take an argument/.test(error.message)
    ? `${flag} takes no value`
    : `${flag} needs a value`;
}
