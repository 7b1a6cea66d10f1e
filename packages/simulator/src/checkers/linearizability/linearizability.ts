import type { Situations } from '../../base/situations.ts';
import type { HistoryEntry } from '../../clients/history.ts';
import type { Simulation } from '../../kernel/simulation.ts';
import type { Checker } from '../story/checker.ts';
import { ClientOperations, type Operations } from './client-operations.ts';
import { KeySpecification } from './key-specification.ts';
import { linearize, type Specification } from './search.ts';
import { TaskSpecification } from './task-specification.ts';

export interface LinearizabilityParts {
  readonly simulation: Simulation;
  readonly situations: Situations;
  readonly entries: readonly HistoryEntry[];
}

/** A task or key with more operations than this is skipped. */
const OPERATIONS_MAX = 300;

/**
 * What clients hear of one task, or of one dedupe key (I7), is what they could have heard if
 * everything had happened one after the other, each between its request and its answer. It sees
 * only requests and answers. A request without an answer may take effect later or never.
 */
export class Linearizability implements Checker {
  readonly name = 'linearizability';
  private readonly parts: LinearizabilityParts;

  constructor(parts: LinearizabilityParts) {
    this.parts = parts;
  }

  ended(): void {
    const operations = new ClientOperations();
    for (const entry of this.parts.entries) operations.add(entry);
    operations.addRetries();
    for (const [id, done] of operations.tasks) {
      const isSubmitAnswered = done.answered.some(({ what }) => what.kind === 'submit');
      this.judge('linearizability', id, new TaskSpecification(isSubmitAnswered), done);
    }
    for (const [key, done] of operations.keys) this.judge('I7', key, KEYS, done);
  }

  private judge<S, O>(
    rule: string,
    name: string,
    specification: Specification<S, O>,
    { answered, loose }: Operations<O>,
  ): void {
    const { simulation, situations } = this.parts;
    const isLong = answered.length + loose.length > OPERATIONS_MAX;
    const verdict = isLong ? 'too long' : linearize(specification, answered, loose);
    if (verdict === 'too long') {
      simulation.log('checker', `the operations on ${name} are too many to be put in order`);
      situations.note('linearizability was not checked: too many operations');
    }
    simulation.check(verdict !== 'impossible', rule, () => {
      return `no order explains what clients heard of ${name}:\n${describe(answered, loose)}`;
    });
  }
}

const KEYS = new KeySpecification();

function describe<O>(answered: Operations<O>['answered'], loose: Operations<O>['loose']): string {
  const unanswered = loose.map((each) => ({ ...each, answeredAt: Number.POSITIVE_INFINITY }));
  return [...answered, ...unanswered]
    .toSorted((a, b) => a.invokedAt - b.invokedAt)
    .map(({ what, invokedAt, answeredAt }) => {
      return `  ${invokedAt.toFixed(3)} to ${answeredAt.toFixed(3)} ${JSON.stringify(what)}`;
    })
    .join('\n');
}
