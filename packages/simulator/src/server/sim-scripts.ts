import type { EvaluationRequest, EvaluationResult, ScriptsEvaluated } from '@sluice/core';
import { randomOutput } from '@sluice/core/testing/runs/random-definition';
import { SeededRandom } from '@sluice/core/testing/world/seeded-random';
import type { Engine } from '@sluice/engine';
import type { RandomStream } from '../kernel/random.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import { lookInto } from './sim-blobs.ts';

/** Share of scripts whose result comes twice, the second time with another value. */
const TWICE_RATE = 0.15;

/** Share of conditions that let a loop go on. */
const GO_ON_RATE = 0.6;

/** Share of blobs that are read slowly. */
const SLOW_BLOB_RATE = 0.3;

/** Stands in for the thread that evaluates scripts: any value may come, at any time. */
export class SimScripts {
  private readonly engine: Engine;
  private readonly process: SimProcess;
  private readonly random: RandomStream;

  private constructor(engine: Engine, process: SimProcess, random: RandomStream) {
    this.engine = engine;
    this.process = process;
    this.random = random;
  }

  /** Evaluates what a server before this one left open. */
  static async begin(engine: Engine, process: SimProcess, random: RandomStream) {
    const scripts = new SimScripts(engine, process, random);
    scripts.evaluate(await engine.read((_, partition) => partition.openEvaluations()));
    return scripts;
  }

  evaluate(asked: readonly EvaluationRequest[]): void {
    for (const request of asked) {
      this.answer(request);
      if (this.random.chance(TWICE_RATE)) this.answer(request);
    }
  }

  private answer({ language, input, source, ...asked }: EvaluationRequest): void {
    const { random } = this;
    const { run, step, evaluation } = asked;
    if (language === 'extract') {
      const result = { run, step, evaluation, values: lookInto(input) };
      // So slow at times that a pause or a kill comes first.
      const isSlow = random.chance(SLOW_BLOB_RATE);
      const ms = isSlow ? random.logarithmic(1000, 20_000) : random.logarithmic(1, 500);
      this.process.after(ms, () => this.report(result));
      return;
    }
    const isCondition = source === 'true';
    const seeded = new SeededRandom(random.integer(0, 2 ** 31));
    const value = isCondition ? random.chance(GO_ON_RATE) : randomOutput(seeded);
    const result = { run, step, evaluation, value: JSON.stringify(value) };
    this.process.after(random.logarithmic(1, 500), () => this.report(result));
  }

  private report(result: EvaluationResult): void {
    const command = { type: 'scripts_evaluated', results: [result] } as const;
    this.engine.execute<ScriptsEvaluated, void>(command, () => undefined).catch(() => undefined);
  }
}
