import { Worker } from 'node:worker_threads';
import type { EvaluationRequest, EvaluationResult } from '@sluice/core';
import { envWithCompileCache } from '@sluice/engine';
import type { ScriptResult } from './sandbox.ts';
import type { ScriptAnswer, ScriptQuestion } from './script-messages.ts';

/** A thread that has not answered for this long is ended. A script itself has one second. */
const PATIENCE_MS = 20_000;

/** A script during which the thread ends is tried this often. */
const TRIES_MAX = 3;

const REMEMBERED_MAX = 1000;
const REMEMBERED_CHARACTERS_MAX = 10_000;

interface Waiting {
  readonly question: ScriptQuestion;
  readonly answered: (answer: ScriptAnswer) => void;
  tries: number;
}

/**
 * Evaluates scripts in a thread of their own, which starts with the first one. Whatever a script
 * does, the server goes on: a thread that ends or does not answer is replaced.
 */
export class Scripts {
  private readonly report: (results: readonly EvaluationResult[]) => void;
  private readonly waiting = new Map<number, Waiting>();
  /** Sources that were found to be scripts: the same definition may come with every run. */
  private readonly correct = new Set<string>();
  private worker: Worker | undefined;
  private patience: NodeJS.Timeout | undefined;
  private ready: EvaluationResult[] = [];
  private lastId = 0;
  private isClosed = false;

  /** `report` takes results; several that come in one turn come together. */
  constructor(report: (results: readonly EvaluationResult[]) => void) {
    this.report = report;
  }

  evaluate(requests: readonly EvaluationRequest[]): void {
    for (const { run, step, evaluation, source, input } of requests) {
      this.ask({ source, input }, ({ result }) => {
        const found: ScriptResult = result ?? { message: 'the script could not be evaluated' };
        this.answer({ run, step, evaluation, ...found });
      });
    }
  }

  /** Why the source is no script; undefined when it is one. */
  async check(source: string): Promise<string | undefined> {
    if (this.correct.has(source)) return undefined;
    const found = await new Promise<string | undefined>((resolve) => {
      this.ask({ source }, ({ problem }) => resolve(problem));
    });
    if (found === undefined && source.length <= REMEMBERED_CHARACTERS_MAX) {
      if (this.correct.size >= REMEMBERED_MAX) this.correct.clear();
      this.correct.add(source);
    }
    return found;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.patience);
    this.waiting.clear();
    await this.worker?.terminate();
  }

  private answer(result: EvaluationResult): void {
    this.ready.push(result);
    if (this.ready.length > 1) return;
    setImmediate(() => {
      const results = this.ready;
      this.ready = [];
      if (!this.isClosed) this.report(results);
    });
  }

  private ask(asked: Omit<ScriptQuestion, 'id'>, answered: Waiting['answered']): void {
    if (this.isClosed) return;
    this.lastId += 1;
    const question = { id: this.lastId, ...asked };
    this.waiting.set(question.id, { question, answered, tries: 0 });
    this.worker ??= this.begin();
    this.worker.postMessage(question);
    this.watch();
  }

  private begin(): Worker {
    const worker = new Worker(new URL('./script-thread.ts', import.meta.url), {
      env: envWithCompileCache(),
      // The interpreter has its own memory; the thread needs little more.
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
    worker.on('message', (answer: ScriptAnswer) => this.heard(answer));
    worker.on('error', () => undefined);
    worker.on('exit', () => this.ended(worker));
    worker.unref();
    return worker;
  }

  private heard(answer: ScriptAnswer): void {
    const asked = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    this.watch();
    asked?.answered(answer);
  }

  /** The oldest question is the one that the thread works on. */
  private watch(): void {
    clearTimeout(this.patience);
    if (this.waiting.size === 0 || this.isClosed) return;
    this.patience = setTimeout(() => void this.worker?.terminate(), PATIENCE_MS);
    this.patience.unref();
  }

  /** The other questions are asked again; the one that ended the thread only a few times. */
  private ended(worker: Worker): void {
    if (this.isClosed || worker !== this.worker) return;
    this.worker = undefined;
    const [oldest] = this.waiting.values();
    if (oldest === undefined) return;
    oldest.tries += 1;
    if (oldest.tries >= TRIES_MAX) {
      const message = 'the script ended its sandbox';
      this.waiting.delete(oldest.question.id);
      oldest.answered({ id: oldest.question.id, result: { message }, problem: message });
    }
    if (this.waiting.size === 0) return;
    this.worker = this.begin();
    for (const { question } of this.waiting.values()) this.worker.postMessage(question);
    this.watch();
  }
}
