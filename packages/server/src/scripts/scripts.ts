import { Worker } from 'node:worker_threads';
import { blobsAsked, type EvaluationRequest, type EvaluationResult } from '@sluice/core';
import { envWithCompileCache } from '@sluice/engine';
import type { BlobKey } from '../blobs/blob-files.ts';
import { TOO_LONG } from './sandbox.ts';
import type { ScriptAnswer, ScriptLanguage, ScriptQuestion } from './script-messages.ts';
import type { ScriptResult } from './script-result.ts';
import { ScriptWatch, type Verdict } from './script-watch.ts';
import { ThreadProgress } from './thread-progress.ts';

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
 * Evaluates scripts in a separate thread, which starts with the first one. Whatever a script
 * does, the server goes on: a thread that ends or does not answer is replaced.
 */
export class Scripts {
  private readonly report: (results: readonly EvaluationResult[]) => void;
  private readonly fileOf: (blob: BlobKey) => Promise<string>;
  private readonly waiting = new Map<number, Waiting>();
  /** Sources that were found to be scripts: the same definition may come with every run. */
  private readonly correct = new Set<string>();
  private worker: Worker | undefined;
  /** Of the worker. */
  private watch: ScriptWatch | undefined;
  private ready: EvaluationResult[] = [];
  private lastId = 0;
  private isClosed = false;

  /**
   * `report` takes results; several that come in one turn come together. `fileOf` says where a file
   * with the content of a blob is.
   */
  constructor(
    report: (results: readonly EvaluationResult[]) => void,
    fileOf: (blob: BlobKey) => Promise<string>,
  ) {
    this.report = report;
    this.fileOf = fileOf;
  }

  evaluate(requests: readonly EvaluationRequest[]): void {
    for (const request of requests) {
      if (request.language !== 'extract') this.askFor(request, request.source);
      // Never rejects.
      else void this.filesOf(request).then((files) => this.askFor(request, files));
    }
  }

  private askFor(request: EvaluationRequest, source: string): void {
    const { run, step, evaluation, language, input } = request;
    this.ask({ language, source, input }, ({ result, values }) => {
      if (values !== undefined) return this.answer({ run, step, evaluation, values });
      const found: ScriptResult = result ?? { message: 'the script could not be evaluated' };
      this.answer({ run, step, evaluation, ...found });
    });
  }

  /** Why the source is no script; undefined when it is one. */
  async check(
    source: string,
    language: ScriptLanguage = 'javascript',
  ): Promise<string | undefined> {
    const key = `${language} ${source}`;
    if (this.correct.has(key)) return undefined;
    const found = await new Promise<string | undefined>((resolve) => {
      this.ask({ language, source }, ({ problem }) => resolve(problem));
    });
    if (found === undefined && source.length <= REMEMBERED_CHARACTERS_MAX) {
      if (this.correct.size >= REMEMBERED_MAX) this.correct.clear();
      this.correct.add(key);
    }
    return found;
  }

  /** The paths of the blobs that are asked about, as JSON. */
  private async filesOf({ namespace, input }: EvaluationRequest): Promise<string> {
    const paths: Record<string, string> = {};
    for (const sha256 of blobsAsked(JSON.parse(input) as string[])) {
      paths[sha256] = await this.fileOf({ namespace, sha256 });
    }
    return JSON.stringify(paths);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.watch?.stop();
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
    this.watch?.start();
  }

  private begin(): Worker {
    const progress = new ThreadProgress();
    const worker = new Worker(new URL('./script-thread.ts', import.meta.url), {
      env: envWithCompileCache(),
      workerData: progress.memory,
      // The interpreter has its own memory; the thread needs little more.
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
    worker.on('message', (answer: ScriptAnswer) => this.heard(answer));
    worker.on('error', () => undefined);
    worker.on('exit', () => this.ended(worker, progress.current));
    worker.unref();
    this.watch = new ScriptWatch(worker, progress, (verdict, id) => this.judge(verdict, id));
    return worker;
  }

  /** The thread is ended. A script that took too long has failed and is not tried again. */
  private judge(verdict: Verdict, id: number): void {
    if (verdict === 'overrun') this.fail(id, `the script failed: ${TOO_LONG}`);
    void this.worker?.terminate();
  }

  private fail(id: number, message: string): void {
    const asked = this.waiting.get(id);
    this.waiting.delete(id);
    asked?.answered({ id, result: { message }, problem: message });
  }

  private heard(answer: ScriptAnswer): void {
    const asked = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    this.watch?.heard();
    if (this.waiting.size === 0) this.watch?.stop();
    asked?.answered(answer);
  }

  /** The other questions are asked again; the one that ended the thread only a few times. */
  private ended(worker: Worker, id: number): void {
    if (this.isClosed || worker !== this.worker) return;
    this.worker = undefined;
    this.watch?.stop();
    // A thread that ended before it began with a question cannot start.
    const [oldest] = this.waiting.values();
    const current = id === 0 ? oldest : this.waiting.get(id);
    if (current !== undefined) {
      current.tries += 1;
      if (current.tries >= TRIES_MAX) {
        this.fail(current.question.id, 'the script ended its sandbox');
      }
    }
    if (this.waiting.size === 0) return;
    this.worker = this.begin();
    for (const { question } of this.waiting.values()) this.worker.postMessage(question);
    this.watch?.start();
  }
}
