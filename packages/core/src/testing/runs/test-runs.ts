import type { TaskNumber } from '../../base/ids.ts';
import { runIdText } from '../../base/run-id.ts';
import type { CancelRuns, RunOutcome } from '../../commands/runs/cancel-runs.ts';
import type { PutWorkflow, PutWorkflowReply } from '../../commands/runs/put-workflow.ts';
import type { RunSpec, StartRuns, StartRunsReply } from '../../commands/runs/start-runs.ts';
import type { TestPartition } from '../test-partition.ts';
import { joined } from '../test-payloads.ts';
import { describeRun, type RunDescription } from './describe-runs.ts';

/** Workflows and runs of a test partition. */
export class TestRuns {
  private readonly partition: TestPartition;

  constructor(partition: TestPartition) {
    this.partition = partition;
  }

  register(name: string, definition: object, version = 1): PutWorkflowReply {
    const text = JSON.stringify(definition);
    const put = { type: 'put_workflow', name, version, definition: { text, hash: text } } as const;
    return this.partition.operate<PutWorkflow>(put);
  }

  /** Starts one run, of the newest version unless said otherwise. */
  start(workflow: string, input: unknown = {}, more: Partial<RunSpec> = {}): StartRunsReply {
    const { bytes, ends } = joined([JSON.stringify(input)]);
    return this.partition.operate<StartRuns>({
      type: 'start_runs',
      runs: [{ workflow, version: 0, ...more }],
      inputs: bytes,
      inputEnds: ends,
    });
  }

  /** Starts one run and returns its number. */
  begin(workflow: string, input: unknown = {}, more: Partial<RunSpec> = {}): number {
    const { slots } = this.start(workflow, input, more);
    return this.partition.state.runs.table.number[slots[0]];
  }

  cancel(number: number): RunOutcome {
    const cancel = { type: 'cancel_runs', ids: [this.id(number)] } as const;
    return this.partition.operate<CancelRuns>(cancel).outcomes[0];
  }

  /** A run in memory. */
  run(number: number): RunDescription {
    const { state } = this.partition;
    const slot = state.runs.table.find(number as TaskNumber);
    if (slot < 0) throw new Error(`run ${number} is not in memory`);
    return describeRun(state, slot);
  }

  id(number: number): string {
    const submittedAt = this.run(number).startedAt;
    return runIdText({ submittedAt, partition: 0, number: number as TaskNumber });
  }
}
