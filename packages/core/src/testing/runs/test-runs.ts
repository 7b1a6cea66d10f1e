import type { TaskNumber } from '../../base/ids.ts';
import { runIdText } from '../../base/run-id.ts';
import type { CancelRuns, RunOutcome } from '../../commands/runs/cancel-runs.ts';
import type { PauseOutcome, PauseRuns } from '../../commands/runs/pause-runs.ts';
import type { PutWorkflow, PutWorkflowReply } from '../../commands/runs/put-workflow.ts';
import type { ReviveRun, ReviveRunReply } from '../../commands/runs/revive-run.ts';
import type { RunSpec, StartRuns, StartRunsReply } from '../../commands/runs/start-runs.ts';
import type { OperateStep, OperateStepReply } from '../../commands/steps/operate-step.ts';
import type { EvaluationResult } from '../../commands/steps/script-evaluated.ts';
import type { TestPartition } from '../test-partition.ts';
import { joined } from '../test-payloads.ts';
import { testUtf8 } from '../test-utf8.ts';
import { describeRun, type RunDescription } from './describe-runs.ts';

/** Room for random runs. Values that contain themselves grow with each iteration. */
export const RUN_LIMITS = {
  callbacksMax: 10_000,
  tasksMax: 400,
  finishedTasksMax: 400,
  arenaChunkBytes: 2 ** 20,
};

const MISSING = { run: 0, evaluation: 0 };

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

  pause(number: number, isPause: boolean): PauseOutcome {
    const pause = { type: 'pause_runs', ids: [this.id(number)], isPause } as const;
    return this.partition.operate<PauseRuns>(pause).outcomes[0];
  }

  /** Ends a step from outside. */
  end(
    number: number,
    reference: string,
    operation: OperateStep['operation'] = 'complete',
    output: unknown = null,
  ): OperateStepReply {
    return this.partition.operate<OperateStep>({
      type: 'operate_step',
      id: this.id(number),
      reference,
      operation,
      payload: testUtf8.encode(JSON.stringify(output)),
      message: operation === 'fail' ? 'no' : '',
    });
  }

  /** Lets an ended run go on. */
  revive(
    number: number,
    operation: ReviveRun['operation'],
    reference = '',
    input?: unknown,
  ): ReviveRunReply {
    const text = input === undefined ? '' : JSON.stringify(input);
    return this.partition.operate<ReviveRun>({
      type: 'revive_run',
      id: this.id(number),
      operation,
      reference,
      input: testUtf8.encode(text),
    });
  }

  /** Answers the script that the step in this slot waits for. */
  evaluated(step: number, result: Pick<EvaluationResult, 'value' | 'values' | 'message'>): number {
    const { run, evaluation } = this.partition.evaluation(step) ?? MISSING;
    return this.partition.evaluated([{ run, step, evaluation, ...result }]);
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
