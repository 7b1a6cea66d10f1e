import { SCRIPT_GLOBALS } from '@sluice/core';

/**
 * Evaluates the scripts of workflows. They are a part of the user's own tests, so they need no
 * sandbox, but each one gets fresh globals: it sees `$` and the language without `Date` and random
 * numbers, as on a server.
 */

/** The same bound as on a server. */
const RESULT_BYTES_MAX = 256 * 1024 - 1024;

/** More than a server allows: there the time of a busy machine does not count. */
const TIMEOUT_MS = 2000;

const MESSAGE_CHARACTERS_MAX = 500;

/** There is no jq in the SDK, which has no dependencies. */
const NO_QUERIES =
  'TestSluice does not evaluate JSON_JQ_TRANSFORM; use INLINE, or test on a server';

/** What a script gave: JSON text, or why it failed. */
export type ScriptResult = { readonly value: string } | { readonly message: string };

interface VirtualMachine {
  runInNewContext(source: string, globals: object, options: object): unknown;
  Script: new (source: string, options: object) => unknown;
}

/** Without an import, because this entry also runs in browsers, which have nothing like it. */
function virtualMachine(): VirtualMachine | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown };
  };
  return process?.getBuiltinModule?.('node:vm') as VirtualMachine | undefined;
}

const vm = virtualMachine();

/** The value of the last statement. `input` is the JSON text of `$`. */
export function evaluateScript(source: string, input: string): ScriptResult {
  if (vm === undefined) return { message: 'TestSluice evaluates scripts only on Node' };
  // Taken before the script can replace them. A server has no console and no Intl either.
  const program = `(() => {
    const { parse, stringify } = JSON;
    delete globalThis.console;
    delete globalThis.Intl;
    ${SCRIPT_GLOBALS}
    globalThis.$ = parse(${JSON.stringify(input)});
    return stringify((0, eval)(${JSON.stringify(source)}));
  })()`;
  try {
    return checked(vm.runInNewContext(program, {}, { timeout: TIMEOUT_MS }));
  } catch (thrown) {
    return { message: `the script failed: ${said(thrown)}`.slice(0, MESSAGE_CHARACTERS_MAX) };
  }
}

/** Why the source is no script; undefined when it is one. */
export function scriptProblem(source: string, isQuery = false): string | undefined {
  if (isQuery) return NO_QUERIES;
  try {
    if (vm !== undefined) new vm.Script(source, { filename: 'script.js' });
    return undefined;
  } catch (thrown) {
    return `the script failed: ${said(thrown)}`;
  }
}

/** A script may change how its values turn into JSON, so the text is not trusted. */
function checked(text: unknown): ScriptResult {
  if (text === undefined) return { value: 'null' };
  if (typeof text !== 'string') return { message: 'its value is no JSON' };
  if (new TextEncoder().encode(text).length > RESULT_BYTES_MAX) {
    return { message: `its value has more than ${RESULT_BYTES_MAX} bytes` };
  }
  try {
    return { value: JSON.stringify(JSON.parse(text)) };
  } catch {
    return { message: 'its value is no JSON' };
  }
}

function said(thrown: unknown): string {
  const isObject = typeof thrown === 'object' && thrown !== null;
  const { name, message, code } = (isObject ? thrown : {}) as Record<string, unknown>;
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'it ran for more than 1 s';
  if (message === 'Maximum call stack size exceeded') return 'it calls itself too deeply';
  return typeof message === 'string' ? `${String(name)}: ${message}` : String(thrown);
}
