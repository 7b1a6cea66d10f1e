import {
  type Author,
  Branches,
  type CancelRuns,
  isRunOver,
  type OperateStep,
  type PauseRuns,
  type ReadmitRun,
  type ReadonlyState,
  type ReviveRun,
  type ReviveRunReply,
  type Slot,
  type StartRuns,
  whyNoStep,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { type RunRequest, type RunStepParams, SluiceError } from '@sluice/protocol';
import { runJson } from '../answers/shown-run.ts';
import { PayloadScratch } from '../base/payload-scratch.ts';
import { programOf } from '../base/step-outline.ts';
import { UTF8 } from '../base/utf8.ts';
import type { Admission } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import { type RunArchive, runNotFound } from './run-archive.ts';
import { RunParser } from './run-parser.ts';
import { runSource } from './run-view.ts';
import { type StartedRun, startedRuns, startRefusal } from './start-answer.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly runs: Pick<RunArchive, 'one' | 'readmission'>;
  /** Throws right after a standstill of the server. */
  readonly refuseWhileWaking: () => void;
  /** Called with the number of new runs. */
  readonly onStarted: (runs: number) => void;
}

/** The run after an operation, as JSON text. */
export interface OperatedRun {
  /** Whether the run has ended. Tasks that workers hold may still have to stop. */
  readonly hasEnded: boolean;
  readonly json: string;
}

/** Starts runs and operates on them. Each call returns once it is durable. */
export class RunOperations {
  private readonly parts: Parts;
  private readonly parser = new RunParser();
  private readonly scratch = new PayloadScratch();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Takes one run or an array, all or nothing. `admit` may refuse before there is an effect. */
  async start(namespace: string, body: unknown, admit?: () => void): Promise<StartedRun[]> {
    const { engine, admission, refuseWhileWaking, onStarted } = this.parts;
    const command = this.parser.parse(namespace, body);
    refuseWhileWaking();
    admission.command(command.type);
    admit?.();
    const isArray = Array.isArray(body);
    const requests = (isArray ? body : [body]) as RunRequest[];
    return engine.execute<StartRuns, StartedRun[]>(command, (reply, state) => {
      if (reply.rejection === undefined) {
        const started = startedRuns(reply, state);
        onStarted(started.filter(({ deduplicated }) => !deduplicated).length);
        return started;
      }
      throw startRefusal(reply, state, {
        command,
        keys: requests.map(({ dedupeKey }) => dedupeKey),
        pathOf: (index) => (isArray ? `/${index}` : ''),
      });
    });
  }

  /** The tasks of the run that nobody holds end at once; workers of others are asked to stop. */
  async cancel(namespace: string, id: string, by: Author): Promise<OperatedRun> {
    const { engine, admission, runs } = this.parts;
    const type = 'cancel_runs';
    admission.command(type);
    const command = { type, namespace, ids: [id], by } as const;
    const found = await engine.execute<CancelRuns, OperatedRun | undefined>(
      command,
      ({ outcomes: [{ rejection, slot }] }, state) => {
        if (rejection === 'run_not_found') return undefined;
        if (rejection !== undefined) throw runFinished(id);
        return operated(state, slot);
      },
    );
    if (found !== undefined) return found;
    // It may have left memory, which only runs that ended do.
    const { status } = JSON.parse(await runs.one(namespace, id)) as { readonly status: string };
    if (status === 'cancelled') return { hasEnded: true, json: await runs.one(namespace, id) };
    throw status === 'running' ? runNotFound(id) : runFinished(id);
  }

  async pause(
    namespace: string,
    id: string,
    { isPause, by }: { readonly isPause: boolean; readonly by: Author },
  ): Promise<OperatedRun> {
    const { engine, admission } = this.parts;
    const type = 'pause_runs';
    admission.command(type);
    const command = { type, namespace, ids: [id], isPause, by } as const;
    const found = await engine.execute<PauseRuns, OperatedRun | undefined>(
      command,
      ({ outcomes: [{ rejection, slot }] }, state) => {
        if (rejection === 'run_not_found') return undefined;
        if (rejection !== undefined) throw runFinished(id);
        return operated(state, slot);
      },
    );
    return found ?? this.refuseForgotten(namespace, id);
  }

  /** Ends a step that runs: a WAIT, a HUMAN, or any other. */
  async endStep(
    namespace: string,
    { id, step: reference }: RunStepParams,
    { operation, value, message, key = 0, by }: StepEnd,
  ): Promise<OperatedRun> {
    const { engine, admission } = this.parts;
    const type = 'operate_step';
    this.scratch.begin(() => (operation === 'complete' ? '/output' : '/error'), false);
    this.scratch.add(value);
    const payload = this.scratch.bytes.slice(0, this.scratch.ends[0]);
    admission.command(type);
    const said = { operation, payload, message, key } as const;
    const command = { type, namespace, id, reference, ...said, by } as const;
    const found = await engine.execute<OperateStep, OperatedRun | undefined>(
      command,
      ({ rejection, slot }, state) => {
        if (rejection === 'run_not_found') return undefined;
        if (rejection === 'run_finished') throw runFinished(id);
        if (rejection === 'too_many_tasks') throw noRoom();
        if (rejection !== undefined) throw stepRefusal(rejection, { state, slot, reference });
        return operated(state, slot);
      },
    );
    return found ?? this.refuseForgotten(namespace, id);
  }

  /** Lets a run that ended go on. */
  async revive(
    namespace: string,
    id: string,
    { operation, fromStep = '', input, by }: Revival,
  ): Promise<OperatedRun> {
    const { engine, admission, runs } = this.parts;
    const type = 'revive_run';
    this.scratch.begin(() => '/input', false);
    this.scratch.add(input ?? null);
    const bytes = this.scratch.bytes.slice(0, input === undefined ? 0 : this.scratch.ends[0]);
    admission.command(type);
    const command = { type, namespace, id, operation, by, reference: fromStep, input: bytes };
    const found = await engine.execute<ReviveRun, OperatedRun | undefined>(
      { ...command, type },
      ({ rejection, slot }, state) => {
        if (rejection === 'run_not_found') return undefined;
        if (rejection === 'step_not_found') {
          throw stepRefusal(rejection, { state, slot, reference: fromStep });
        }
        if (rejection === 'quota_exceeded') throw runQuota(state);
        if (rejection !== undefined) throw revivalRefusal(rejection, { id, fromStep, operation });
        return operated(state, slot);
      },
    );
    if (found !== undefined) return found;
    if (operation === 'restart') return this.readmit(namespace, id, by);
    await runs.one(namespace, id);
    const message = `run '${id}' ended too long ago: its steps are no longer in memory`;
    throw new SluiceError('run_not_kept', `${message}; restart it, which works from its records`);
  }

  /** Restarts a run that left memory. */
  private async readmit(namespace: string, id: string, by: Author): Promise<OperatedRun> {
    const { engine, admission, runs } = this.parts;
    const type = 'readmit_run';
    const { input, ...known } = await runs.readmission(namespace, id);
    admission.command(type);
    const command = { type, namespace, id, by, ...known, input: Buffer.from(input) } as const;
    return engine.execute<ReadmitRun, OperatedRun>(command, ({ rejection, slot }, state) => {
      if (rejection === undefined) return operated(state, slot);
      if (rejection === 'quota_exceeded') throw runQuota(state);
      if (rejection === 'workflow_not_found') throw withoutDefinition(id, known);
      if (rejection === 'too_many_tasks' || rejection === 'too_many_bytes') throw noRoom();
      // Another call has restarted it since it was looked up.
      throw new SluiceError('run_not_finished', `run '${id}' has not ended yet`);
    });
  }

  /** Only runs that ended leave memory. */
  private async refuseForgotten(namespace: string, id: string): Promise<never> {
    await this.parts.runs.one(namespace, id);
    throw runFinished(id);
  }
}

/** How a run that ended goes on. */
interface Revival {
  readonly operation: ReviveRun['operation'];
  /** For a rerun. */
  readonly fromStep?: string;
  readonly input?: unknown;
  readonly by: Author;
}

type RevivalRefusal = Exclude<
  NonNullable<ReviveRunReply['rejection']>,
  'run_not_found' | 'step_not_found' | 'quota_exceeded'
>;

function revivalRefusal(
  code: RevivalRefusal,
  { id, fromStep, operation }: { id: string; fromStep: string; operation: string },
): SluiceError {
  switch (code) {
    case 'run_not_finished':
      return new SluiceError(code, `run '${id}' has not ended yet, so it cannot ${operation}`);
    case 'run_finished':
      return new SluiceError(code, `run '${id}' has no step to retry; use rerun or restart`);
    case 'input_not_used': {
      const message = `/input must be absent: step '${fromStep}' takes no input`;
      const details = [{ path: '/input', problem: 'must be absent for this step' }];
      return new SluiceError('invalid_request', message, { details });
    }
    case 'input_not_object': {
      const message = `/input must be an object for step '${fromStep}'`;
      const details = [{ path: '/input', problem: 'must be an object for this step' }];
      return new SluiceError('invalid_request', message, { details });
    }
    case 'too_many_tasks':
      return noRoom();
  }
}

function withoutDefinition(
  id: string,
  { workflow, version }: { readonly workflow: string; readonly version: number },
): SluiceError {
  const message = `run '${id}' left memory, and its definition is not there any more`;
  const what =
    version === 0
      ? 'it came with the run; start another run with it'
      : `register version ${version} of '${workflow}' again, or start another run`;
  return new SluiceError('run_not_kept', `${message}: ${what}`);
}

function runQuota({ limits }: ReadonlyState): SluiceError {
  return quotaExceeded('runsMax', limits.quotas?.runsMax);
}

function noRoom(): SluiceError {
  const message = 'the server has no room for the tasks of the run';
  return new SluiceError('overloaded', message, { retryAfterMs: 1000 });
}

interface NamedStep {
  readonly state: ReadonlyState;
  readonly slot: Slot;
  readonly reference: string;
}

function stepRefusal(
  code: 'step_not_found' | 'step_not_waiting',
  { state, slot: run, reference }: NamedStep,
): SluiceError {
  const program = programOf(state.programs.at(state.runs.table.program[run]));
  const branches = new Branches(state, UTF8);
  return new SluiceError(code, whyNoStep(state, { run, program, reference, branches }));
}

/** How a step is ended from outside. */
interface StepEnd {
  readonly operation: OperateStep['operation'];
  /** The output, or the error. */
  readonly value: unknown;
  readonly message: string;
  /** Idempotency key of the call; 0 without one. */
  readonly key?: number;
  readonly by: Author;
}

function operated(state: ReadonlyState, slot: Slot): OperatedRun {
  return {
    hasEnded: isRunOver(state.runs.table.state[slot]),
    json: runJson(runSource(state, slot)),
  };
}

function runFinished(id: string): SluiceError {
  return new SluiceError('run_finished', `run '${id}' has ended`);
}
