import { parentPort, workerData } from 'node:worker_threads';
import { Sandbox } from './sandbox.ts';
import type { ScriptAnswer, ScriptQuestion } from './script-messages.ts';
import { ThreadProgress } from './thread-progress.ts';

/** The thread that evaluates scripts, one after the other. */
const sandbox = await Sandbox.load();
const progress = new ThreadProgress(workerData as SharedArrayBuffer);

parentPort?.on('message', (question: ScriptQuestion) => {
  const { id, source, input } = question;
  progress.begin(id);
  const answer: ScriptAnswer =
    input === undefined
      ? { id, problem: sandbox.check(source) }
      : { id, result: sandbox.evaluate(source, input) };
  progress.end();
  parentPort?.postMessage(answer);
});
