import variant from '@jitl/quickjs-wasmfile-release-sync';
import { SCRIPT_GLOBALS } from '@sluice/core';
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { checkedValue, type ScriptResult } from './script-result.ts';

/** Bounds on one script. */
export const CPU_MS_MAX = 1000;
const MEMORY_BYTES_MAX = 32 * 2 ** 20;
const STACK_BYTES_MAX = 256 * 1024;
const MESSAGE_CHARACTERS_MAX = 500;

/**
 * Evaluates scripts of workflows in an interpreter that is a WebAssembly module: a script sees `$`
 * and the language without `Date` and random numbers, and nothing of this process. Each script has
 * a fresh interpreter.
 */
export class Sandbox {
  private readonly module: QuickJSWASMModule;

  private constructor(module: QuickJSWASMModule) {
    this.module = module;
  }

  static async load(): Promise<Sandbox> {
    return new Sandbox(
      await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant),
    );
  }

  /** The value of the last statement. `input` is the JSON text of `$`. */
  evaluate(source: string, input: string): ScriptResult {
    return this.inContext((context) => {
      // Taken before the script can replace it.
      const json = context.getProp(context.global, 'JSON');
      const stringify = context.getProp(json, 'stringify');
      const parse = context.getProp(json, 'parse');
      const text = context.newString(input);
      const given = context.callFunction(parse, context.undefined, text);
      for (const handle of [json, parse, text]) handle.dispose();
      try {
        if (given.error) return failure(context.dump(given.error.consume((each) => each)));
        given.value.consume((value) => context.setProp(context.global, '$', value));
        context.unwrapResult(context.evalCode(SCRIPT_GLOBALS, 'globals.js')).dispose();
        const result = context.evalCode(source, 'script.js');
        if (result.error) return failure(result.error.consume((each) => context.dump(each)));
        const made = result.value.consume((value) =>
          context.callFunction(stringify, context.undefined, value),
        );
        if (made.error) return failure(made.error.consume((each) => context.dump(each)));
        return checkedValue(made.value.consume((each) => context.dump(each)));
      } finally {
        stringify.dispose();
      }
    });
  }

  /** Why the source is no script; undefined when it is one. */
  check(source: string): string | undefined {
    const result = this.inContext((context) => {
      const compiled = context.evalCode(source, 'script.js', { compileOnly: true });
      if (compiled.error) return failure(compiled.error.consume((each) => context.dump(each)));
      compiled.value.dispose();
      return { value: '' };
    });
    return 'message' in result ? result.message : undefined;
  }

  private inContext(use: (context: QuickJSContext) => ScriptResult): ScriptResult {
    const runtime = this.module.newRuntime();
    try {
      runtime.setMemoryLimit(MEMORY_BYTES_MAX);
      runtime.setMaxStackSize(STACK_BYTES_MAX);
      const end = cpuMs() + CPU_MS_MAX;
      runtime.setInterruptHandler(() => cpuMs() > end);
      const context = runtime.newContext();
      try {
        return use(context);
      } finally {
        context.dispose();
      }
    } finally {
      runtime.dispose();
    }
  }
}

/** Of this thread: a busy machine must not fail a script. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

export const TOO_LONG = `it ran for more than ${CPU_MS_MAX / 1000} s`;

/** What the interpreter says when a script reaches a bound. */
const BOUNDS: Readonly<Record<string, string>> = {
  interrupted: TOO_LONG,
  'out of memory': `it needs more than ${MEMORY_BYTES_MAX / 2 ** 20} MiB of memory`,
  'stack overflow': 'it calls itself too deeply',
};

function failure(thrown: unknown): ScriptResult {
  const isObject = typeof thrown === 'object' && thrown !== null;
  const { name, message } = (isObject ? thrown : {}) as { name?: unknown; message?: unknown };
  if (name === 'InternalError' && typeof message === 'string' && message in BOUNDS) {
    return { message: `the script failed: ${BOUNDS[message]}` };
  }
  const said = typeof message === 'string' ? `${String(name)}: ${message}` : String(thrown);
  return { message: `the script failed: ${said}`.slice(0, MESSAGE_CHARACTERS_MAX) };
}
