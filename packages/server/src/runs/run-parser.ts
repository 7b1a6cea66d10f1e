import type { DedupeClaims, DefinitionText, RunSpec, StartRuns } from '@sluice/core';
import { type ErrorDetail, LIMITS, RunRequest } from '@sluice/protocol';
import { PayloadScratch } from '../base/payload-scratch.ts';
import { Checker, invalid } from '../base/validation.ts';
import { inputWords, writeKeyHash } from '../dedupe/dedupe-hashes.ts';
import { HASH_WORDS } from '../dedupe/value-hash.ts';
import { checkedDefinition, refuseProblems } from '../workflows/definition-check.ts';

/** Approximate maximum number of problems in an answer. */
const PROBLEMS_MAX = 50;

/** Checks a body and turns it into a command. The command is valid until the next call. */
export class RunParser {
  private readonly request = new Checker(RunRequest);
  private readonly scratch = new PayloadScratch();

  parse(namespace: string, body: unknown): Omit<StartRuns, 'now'> {
    const isArray = Array.isArray(body);
    const items: unknown[] = isArray ? body : [body];
    if (items.length === 0 || items.length > LIMITS.batchRunsMax) {
      const problem = `has ${items.length} runs; 1 to ${LIMITS.batchRunsMax} are allowed`;
      throw invalid('the array', [{ path: '', problem }]);
    }
    const pathOf = (index: number) => (isArray ? `/${index}` : '');
    const requests = this.checkAll(items, pathOf);
    const definitions = checkDefinitions(requests, pathOf);
    this.scratch.begin((index) => `${pathOf(index)}/input`);
    for (const { input } of requests) this.scratch.add(input);
    const dedupe = claimsOf(namespace, requests);
    return {
      type: 'start_runs',
      namespace,
      runs: requests.map((request, index) => specOf(request, definitions[index])),
      inputs: this.scratch.bytes,
      inputEnds: this.scratch.ends,
      ...(dedupe === undefined ? {} : { dedupe }),
    };
  }

  private checkAll(items: unknown[], pathOf: (index: number) => string): RunRequest[] {
    const problems: ErrorDetail[] = [];
    items.forEach((item, index) => {
      if (problems.length >= PROBLEMS_MAX) return;
      const path = pathOf(index);
      if (this.request.accepts(withoutDefinition(item))) {
        problems.push(...ruleProblems(item as RunRequest, path));
      } else problems.push(...this.request.problems(withoutDefinition(item), path));
    });
    if (problems.length > 0) throw invalid('the run is not valid', problems);
    return items as RunRequest[];
  }
}

/** Definitions are checked as a whole, with errors that name every problem. */
function withoutDefinition(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  const { definition: _, ...rest } = item as Record<string, unknown>;
  return rest;
}

/** Rules that the schema cannot express. */
function ruleProblems(request: RunRequest, path: string): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  if (request.version !== undefined && request.definition !== undefined) {
    problems.push({ path: `${path}/version`, problem: 'cannot be combined with definition' });
  }
  if (request.dedupeWindowMs !== undefined && request.dedupeKey === undefined) {
    problems.push({ path: `${path}/dedupeWindowMs`, problem: 'needs a dedupeKey' });
  }
  return problems;
}

function checkDefinitions(
  requests: readonly RunRequest[],
  pathOf: (index: number) => string,
): (DefinitionText | undefined)[] {
  const problems: ErrorDetail[] = [];
  const definitions = requests.map(({ definition }, index) => {
    if (definition === undefined) return undefined;
    return checkedDefinition(definition, `${pathOf(index)}/definition`, problems);
  });
  refuseProblems(problems);
  return definitions;
}

function specOf(request: RunRequest, definition: DefinitionText | undefined): RunSpec {
  const { workflow, version = 0, priority, correlationId, tags } = request;
  return {
    workflow,
    version,
    ...(definition === undefined ? {} : { definition }),
    ...(priority === undefined ? {} : { priority }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(tags === undefined ? {} : { tags }),
  };
}

/** The dedupe keys of a start as the core takes them; `undefined` when no run has one. */
function claimsOf(namespace: string, requests: readonly RunRequest[]): DedupeClaims | undefined {
  if (requests.every(({ dedupeKey }) => dedupeKey === undefined)) return undefined;
  const words = new Uint32Array(requests.length * 2 * HASH_WORDS);
  const windowsMs = requests.map((request, index) => {
    const { dedupeKey, dedupeWindowMs = LIMITS.dedupeWindowMsDefault } = request;
    if (dedupeKey === undefined) return 0;
    const at = index * 2 * HASH_WORDS;
    // No namespace begins so: a key of a run never equals a key of a task.
    writeKeyHash(words, at, `\0run\0${namespace}/${request.workflow}\0${dedupeKey}`);
    words.set(inputWords({ input: request.input }), at + HASH_WORDS);
    return dedupeWindowMs;
  });
  return { words, windowsMs };
}
