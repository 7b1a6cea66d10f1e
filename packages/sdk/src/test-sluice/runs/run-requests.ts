import {
  compileDefinition,
  type DedupeClaims,
  definitionSchemaProblems,
  type RunSpec,
} from '@sluice/core';
import { LIMITS } from '@sluice/protocol/limits';
import type { ErrorDetail } from '../../calls/http-answers.ts';
import { errorOf } from '../../calls/sluice-error.ts';
import type { RunRequest } from '../../workflow/run-types.ts';
import type { WorkflowJson } from '../../workflow/workflow.ts';
import { optionProblems, requestProblems } from '../server/checked-requests.ts';
import { hashOf, inputWords, UTF8 } from '../server/payloads.ts';
import { scriptProblem } from '../server/scripts.ts';

/** Refuses what a server refuses. The definitions here come from `defineWorkflow`. */

/** The definition as the core takes it. */
export function definitionText(definition: WorkflowJson): { text: string; hash: string } {
  const { program, problems = [] } = compileDefinition(definition, UTF8);
  const details = [
    ...problems.map(({ path, message }) => ({ path, problem: message })),
    ...definitionSchemaProblems(definition),
    ...(program?.nodes ?? []).flatMap(({ reference, task }) => optionProblems(task, reference)),
    ...(program?.nodes ?? []).flatMap(({ reference, script, kind }) => {
      const problem = scriptProblem(script, kind === 'JSON_JQ_TRANSFORM');
      return problem === undefined ? [] : [{ path: `/${reference}`, problem }];
    }),
  ];
  refuse('invalid_definition', 'the definition is not valid', details);
  const text = JSON.stringify(definition);
  const words = Array.from(hashOf(text), (word) => word.toString(16).padStart(8, '0'));
  return { text, hash: words.join('') };
}

/** Runs in the core's form. A single run has no index in errors. */
export function runSpecs(requests: readonly RunRequest[], isSingle: boolean): RunSpec[] {
  const details = requests.flatMap(({ input: _, ...request }, index) => {
    const path = isSingle ? '' : `/${index}`;
    const problems = requestProblems('RunRequest', request, path);
    if (request.dedupeWindowMs === undefined || request.dedupeKey !== undefined) return problems;
    return [...problems, { path: `${path}/dedupeWindowMs`, problem: 'needs a dedupeKey' }];
  });
  refuse('invalid_request', 'the run is not valid', details);
  return requests.map(({ workflow, version = 0, priority, correlationId, tags }) => ({
    workflow,
    version,
    ...(priority === undefined ? {} : { priority }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(tags === undefined ? {} : { tags }),
  }));
}

/** Words of 32 bits per hash. */
const HASH_WORDS = 4;

/** The dedupe keys of runs in the core's form; `undefined` when no run has one. */
export function runClaims(requests: readonly RunRequest[]): DedupeClaims | undefined {
  if (requests.every(({ dedupeKey }) => dedupeKey === undefined)) return undefined;
  const words = new Uint32Array(requests.length * 2 * HASH_WORDS);
  const windowsMs = requests.map((request, index) => {
    const { workflow, dedupeKey, dedupeWindowMs = LIMITS.dedupeWindowMsDefault } = request;
    if (dedupeKey === undefined) return 0;
    const at = index * 2 * HASH_WORDS;
    // No task type begins so: a key of a run never equals a key of a task.
    words.set(hashOf(`\0run\0${workflow}\0${dedupeKey}`), at);
    words.set(inputWords(request.input ?? null), at + HASH_WORDS);
    return dedupeWindowMs;
  });
  return { words, windowsMs };
}

function refuse(code: string, what: string, details: readonly ErrorDetail[]): void {
  if (details.length === 0) return;
  const [{ path, problem }] = details;
  const message = `${what}: ${path} ${problem}`;
  throw errorOf({ status: 400, code, message, details });
}
