import { parentPort } from 'node:worker_threads';
import { Sandbox } from './sandbox.ts';
import type { ScriptAnswer, ScriptQuestion } from './script-messages.ts';

/** The thread that evaluates scripts, one after the other. */
const sandbox = await Sandbox.load();

parentPort?.on('message', (question: ScriptQuestion) => {
  const { id, source, input } = question;
  const answer: ScriptAnswer =
    input === undefined
      ? { id, problem: sandbox.check(source) }
      : { id, result: sandbox.evaluate(source, input) };
  parentPort?.postMessage(answer);
});
