import { parentPort, workerData } from 'node:worker_threads';
import { lookAt } from './blob-looks.ts';
import { Jq } from './jq.ts';
import { Sandbox } from './sandbox.ts';
import type { ScriptAnswer, ScriptQuestion } from './script-messages.ts';
import { ThreadProgress } from './thread-progress.ts';

/** The thread that evaluates scripts and queries, one after the other. */
const sandbox = await Sandbox.load();
const progress = new ThreadProgress(workerData as SharedArrayBuffer);
/** Loaded for the first query: most servers need none. */
let jq: Promise<Jq> | undefined;

parentPort?.on('message', async (question: ScriptQuestion) => {
  const { id, language, source, input } = question;
  if (language === 'extract') {
    // The time for a script is the time for one look here: a blob may be large.
    const values = lookAt(question, () => progress.begin(id));
    progress.end();
    parentPort?.postMessage({ id, values } satisfies ScriptAnswer);
    return;
  }
  const evaluator = language === 'jq' ? await soundJq() : sandbox;
  // From here on nothing waits, so no other question comes between.
  progress.begin(id);
  const answer: ScriptAnswer =
    input === undefined
      ? { id, problem: evaluator.check(source) }
      : { id, result: evaluator.evaluate(source, input) };
  progress.end();
  parentPort?.postMessage(answer);
});

/** Another instance takes the place of one that trapped. */
async function soundJq(): Promise<Jq> {
  jq ??= Jq.load();
  const loaded = await jq;
  if (!loaded.isBroken) return loaded;
  jq = Jq.load();
  return soundJq();
}
