import { COMMANDS } from './commands.ts';

/** Flags of every command that calls a server, and whether they have a value. */
const GLOBAL = new Map([
  ['--url', true],
  ['--json', false],
]);

/**
 * The arguments with the command in front. Users of other tools type
 * `sluice --url URL task list`; the flags belong to the command and move behind its name.
 */
export function commandFirst(args: readonly string[]): string[] {
  let count = 0;
  while (count < args.length) {
    const [flag, value] = args[count].split('=', 2);
    const hasValue = GLOBAL.get(flag);
    if (hasValue === undefined) break;
    count += hasValue && value === undefined ? 2 : 1;
  }
  const [name, ...rest] = args.slice(count);
  if (name === undefined) return [...args];
  const isGroup = Object.hasOwn(COMMANDS, name) && COMMANDS[name].commands !== undefined;
  const words = isGroup ? rest.slice(0, 1) : [];
  return [name, ...words, ...args.slice(0, count), ...rest.slice(words.length)];
}
