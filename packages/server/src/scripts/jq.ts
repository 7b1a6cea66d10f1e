import { loadJq } from 'jq-wasm';
import { checkedValue, type ScriptResult } from './script-result.ts';

type JqHandle = Awaited<ReturnType<typeof loadJq>>;

/** The memory of a WebAssembly module, whose types Node does not have. */
interface ModuleMemory {
  readonly buffer: ArrayBuffer;
  grow(this: ModuleMemory, pages: number): number;
}

const { Memory } = (
  globalThis as unknown as { WebAssembly: { Memory: { prototype: ModuleMemory } } }
).WebAssembly;

const PAGE_BYTES = 65_536;

/** Bounds on one query. Its time is bounded by the watch of the thread, which then ends. */
const MEMORY_BYTES_MAX = 64 * 2 ** 20;
const MESSAGE_CHARACTERS_MAX = 500;

const NO_MEMORY = `it needs more than ${MEMORY_BYTES_MAX / 2 ** 20} MiB of memory`;

/** The exit code of jq for a program that does not compile. */
const NOT_COMPILED = 3;

/**
 * Evaluates jq queries with jq itself, as a WebAssembly module: a query sees its input, no files
 * and no variables of this process. It belongs into a thread, because a query cannot be
 * interrupted.
 */
export class Jq {
  private readonly jq: JqHandle;
  /** The module trapped: what it does next cannot be trusted. */
  isBroken = false;

  private constructor(jq: JqHandle) {
    this.jq = jq;
  }

  static async load(): Promise<Jq> {
    return new Jq(await loadJq());
  }

  /** All values that the query gives, as a JSON list. */
  evaluate(query: string, input: string): ScriptResult {
    try {
      const { stdout, stderr, exitCode } = this.run(query, input);
      if (exitCode !== 0) return { message: failure(stderr) };
      const lines = stdout.split('\n').filter((line) => line !== '');
      return checkedValue(`[${lines.join()}]`);
    } catch {
      // The module ends itself when it has no memory or no stack.
      this.isBroken = true;
      return { message: `the query failed: ${NO_MEMORY}` };
    }
  }

  /** Why the text is no query; undefined when it is one. Without an input nothing runs. */
  check(query: string): string | undefined {
    try {
      const { stderr, exitCode } = this.run(query, '');
      return exitCode === NOT_COMPILED ? failure(stderr) : undefined;
    } catch {
      this.isBroken = true;
      return `the query failed: ${NO_MEMORY}`;
    }
  }

  private run(query: string, input: string): ReturnType<JqHandle['raw']> {
    const { prototype } = Memory;
    const { grow } = prototype;
    const { error } = console;
    prototype.grow = function (pages) {
      const bytes = this.buffer.byteLength + pages * PAGE_BYTES;
      if (bytes > MEMORY_BYTES_MAX) throw new RangeError(NO_MEMORY);
      return grow.call(this, pages);
    };
    // The module writes a line when it ends itself, which says nothing to an operator.
    console.error = () => undefined;
    try {
      // With a space in front, no query is taken for an option.
      return this.jq.raw(input, ` ${query}`, ['-c']);
    } finally {
      prototype.grow = grow;
      console.error = error;
    }
  }
}

/** What jq says, without where it read its input. */
function failure(stderr: string): string {
  const errors = stderr.split('\n').filter((line) => line.startsWith('jq: error'));
  const [said = stderr] = errors;
  const plain = said.replace(/^jq: error(?: \(at [^)]*\))?:? ?/, '').replace(/:$/, '');
  return `the query failed: ${plain}`.slice(0, MESSAGE_CHARACTERS_MAX);
}
