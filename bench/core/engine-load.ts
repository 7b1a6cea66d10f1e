import { join } from 'node:path';
import type {
  AttachSession,
  Outputs,
  ReadonlyState,
  ReportAttempts,
  SubmitTasks,
} from '@sluice/core';
import { Engine, type EngineOptions, foldBetweenTurns, type Releasable } from '@sluice/engine';
import { FileLog, FileSnapshots, readLogFolder } from '@sluice/log';
import { attachRequest, LIMITS, leaseOf, submitRequest, successRequest, UTF8 } from './requests.ts';

const PARTITION = { partition: 0, limits: LIMITS, utf8: UTF8 };

/** An engine on a file log, fed directly. Pushes are handed over when they are durable. */
export class EngineLoad {
  private readonly log: FileLog;
  /** Leases that were granted and are not durable yet. */
  private staged: string[] = [];
  private started: Engine | undefined;
  /** Called with the leases of a commit. */
  onPushed: (leases: readonly string[]) => void = () => undefined;

  private constructor(log: FileLog) {
    this.log = log;
  }

  /** Without snapshots, it starts from the log alone. */
  static async start(
    folder: string,
    options: Pick<EngineOptions, 'snapshots'> = {},
  ): Promise<EngineLoad> {
    const load = new EngineLoad(await FileLog.open({ folder: logFolderIn(folder) }));
    load.started = await Engine.start({
      ...options,
      log: load.log,
      partition: PARTITION,
      outputs: { stage: (...given) => load.stage(...given), seal: () => load.seal() },
      clock: Date.now,
      nonce: () => Math.floor(Math.random() * 2 ** 53),
      atEndOfTurn: setImmediate,
      startTimer: () => () => undefined,
      graceMsMin: 0,
      notify: () => undefined,
      onStopped: (cause) => {
        throw cause;
      },
    });
    return load;
  }

  submit(request: Omit<SubmitTasks, 'now'>): Promise<void> {
    return this.engine.execute<SubmitTasks, void>(request, () => undefined);
  }

  async submitMany(tasks: number, batch: number): Promise<void> {
    const request = submitRequest(batch);
    for (let sent = 0; sent < tasks; sent += batch) await this.submit(request);
  }

  attach(session: string, slots: number): Promise<void> {
    return this.engine.execute<AttachSession, void>(attachRequest(session, slots), () => undefined);
  }

  complete(session: string, leases: readonly string[]): Promise<void> {
    const request = successRequest(session, leases);
    return this.engine.execute<ReportAttempts, void>(request, () => undefined);
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.log.close();
  }

  private get engine(): Engine {
    if (this.started === undefined) throw new Error('the engine has not started');
    return this.started;
  }

  private stage({ pushSlots }: Outputs, state: ReadonlyState): void {
    for (const slot of pushSlots) this.staged.push(leaseOf(state, slot));
  }

  private seal(): Releasable | undefined {
    const leases = this.staged;
    if (leases.length === 0) return undefined;
    this.staged = [];
    return { release: () => this.onPushed(leases), drop: () => undefined };
  }
}

/** Fills a log with tasks that wait for a worker; returns the number of records. */
export async function fillLog(folder: string, tasks: number): Promise<number> {
  const batch = 1000;
  const load = await EngineLoad.start(folder);
  await load.submitMany(tasks, batch);
  await load.close();
  return Math.ceil(tasks / batch);
}

/** Folds the log up to a record into a snapshot, in this process. */
export async function foldLog(folder: string, upTo: number): Promise<void> {
  const fold = foldBetweenTurns({
    partition: PARTITION,
    snapshots: await FileSnapshots.open(snapshotFolderIn(folder)),
    readLog: (range) => readLogFolder(logFolderIn(folder), range),
  });
  const outcome = await fold(upTo).done;
  if (outcome.kind !== 'saved') throw new Error(`the log could not be folded: ${outcome.reason}`);
}

/** Starts like a server: from the newest snapshot and the log after it. */
export async function startFromSnapshot(folder: string): Promise<EngineLoad> {
  const store = await FileSnapshots.open(snapshotFolderIn(folder));
  const startFold = (): never => {
    throw new Error('no fold is due in a benchmark of starts');
  };
  const everyBytes = Number.POSITIVE_INFINITY;
  return EngineLoad.start(folder, { snapshots: { store, startFold, everyBytes } });
}

function logFolderIn(folder: string): string {
  return join(folder, 'log');
}

function snapshotFolderIn(folder: string): string {
  return join(folder, 'snapshots');
}
