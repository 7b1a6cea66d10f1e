import {
  type AdvanceTime,
  type CancelRuns,
  DEFAULT_NAMESPACE,
  type PutWorkflow,
  type StartRuns,
} from '@sluice/core';
import { CoreLoad } from '../core/core-load.ts';
import { UTF8 } from '../core/requests.ts';
import { type Definition, RUN_INPUT, WORKFLOW } from './definitions.ts';

const INPUT = UTF8.encode(JSON.stringify(RUN_INPUT));

export const RUN_INPUT_BYTES = INPUT.length;

/** Runs of one definition in a core without engine and log. */
export class RunLoad extends CoreLoad {
  /** Without a definition, the state is loaded. */
  constructor(definition?: Definition) {
    super();
    if (definition === undefined) return;
    const text = JSON.stringify(definition);
    this.execute<PutWorkflow>({
      type: 'put_workflow',
      namespace: DEFAULT_NAMESPACE,
      name: WORKFLOW,
      version: 1,
      definition: { text, hash: text },
    });
  }

  /** Starts runs; what one command leaves over is done by the alarm. */
  start(count: number): void {
    const inputs = new Uint8Array(INPUT.length * count);
    const inputEnds = Array.from({ length: count }, (_, place) => {
      inputs.set(INPUT, place * INPUT.length);
      return (place + 1) * INPUT.length;
    });
    const runs = Array.from({ length: count }, () => ({ workflow: WORKFLOW, version: 0 }));
    this.execute<StartRuns>({
      type: 'start_runs',
      namespace: DEFAULT_NAMESPACE,
      runs,
      inputs,
      inputEnds,
    });
  }

  /** Starts one run with this input. */
  startWith(input: object): void {
    const inputs = UTF8.encode(JSON.stringify(input));
    this.execute<StartRuns>({
      type: 'start_runs',
      namespace: DEFAULT_NAMESPACE,
      runs: [{ workflow: WORKFLOW, version: 0 }],
      inputs,
      inputEnds: [inputs.length],
    });
  }

  cancel(id: string): void {
    this.execute<CancelRuns>({ type: 'cancel_runs', namespace: DEFAULT_NAMESPACE, ids: [id] });
  }

  /** What the alarm does while runs have something to do. */
  proceed(): void {
    this.execute<AdvanceTime>({ type: 'advance_time', seed: 1 });
  }

  get hasWork(): boolean {
    return this.partition.state.runs.line.length > 0;
  }

  /** Runs that the last command ended. */
  get ended(): number {
    return this.partition.outputs.endedRuns.length;
  }
}
