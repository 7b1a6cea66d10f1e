import { type Outputs, Partition, type PartitionOptions, type ReadonlyState } from '@sluice/core';
import type { EngineNotice } from '@sluice/engine';
import type { BoundedLog } from '@sluice/log';
import type { LogLevel } from '../base/log-level.ts';
import type { ClockNotice } from '../clock/steady-clock.ts';
import type { Refusal } from '../http/refusal.ts';
import { CallbackMetrics } from '../metrics/callback-metrics.ts';
import { measuredLog } from '../metrics/measured-log.ts';
import { ScheduleMetrics } from '../metrics/schedule-metrics.ts';
import { ServerMetrics } from '../metrics/server-metrics.ts';
import { TaskMetrics } from '../metrics/task-metrics.ts';
import { TypeMetrics } from '../metrics/type-metrics.ts';
import type { ProjectionNotice } from '../projection/projection.ts';
import type { Stats } from '../stats/stats.ts';
import type { StreamNotice } from '../workers/worker-streams.ts';
import { NoticeLimit } from './notice-limit.ts';
import { causeText, type ServerLog } from './server-log.ts';

type MakePartition = (options: PartitionOptions) => Partition;

const makeUsual: MakePartition = (options) => new Partition(options);

/** What operators see of a server. Every part reports here. */
export class Observation {
  readonly log: ServerLog;
  readonly server: ServerMetrics;
  readonly tasks = new TaskMetrics();
  readonly types = new TypeMetrics();
  readonly callbacks = new CallbackMetrics();
  readonly schedules = new ScheduleMetrics();
  readonly stats: Stats;
  private readonly projectionLines = new NoticeLimit(() => performance.now());
  private made: Partition | undefined;
  private readonly make: MakePartition;

  constructor(log: ServerLog, version: string, stats: Stats, make: MakePartition = makeUsual) {
    this.make = make;
    this.log = log;
    this.stats = stats;
    this.server = new ServerMetrics(version);
  }

  /** Makes the partition and remembers it. A start may make several; the last one is used. */
  readonly makePartition = (options: PartitionOptions): Partition => {
    this.made = this.make(options);
    return this.made;
  };

  /** The partition was made before, and has followed the log. */
  use(partition: Partition): void {
    this.made = partition;
  }

  /** Available once the engine has started. */
  get partition(): Partition {
    if (this.made === undefined) throw new Error('the engine has not started');
    return this.made;
  }

  /** Tasks are counted from here on; existing tasks are not. */
  begin(): void {
    this.tasks.firstTask = this.partition.state.nextTask;
    this.stats.begin(this.partition.state.nextTask);
  }

  readonly runsStarted = (runs: number): void => {
    this.tasks.runsStarted(runs);
    this.stats.runsStarted(runs);
  };

  measured(log: BoundedLog): BoundedLog {
    return measuredLog(log, this.server.commits);
  }

  readonly staged = (outputs: Outputs, state: ReadonlyState): void => {
    // Schedules and their runs have numbers of the same sequence as tasks.
    const { startedRuns, createdSchedules, fires } = outputs;
    const runs = fires.filter(({ reason, isRun }) => reason === 0 && isRun).length;
    this.runsStarted(startedRuns.length + createdSchedules.length + runs);
    this.schedules.staged(outputs);
    this.tasks.staged(outputs, state);
    this.types.staged(outputs, state);
    this.stats.staged(outputs, state);
  };

  readonly recognised = (tasks: number): void => this.tasks.recognised(tasks);

  readonly refused = (refusal: Refusal): void => {
    this.server.refused(refusal.code);
    this.log.refused(refusal);
  };

  readonly blocked = (who: { readonly address?: string; readonly key?: string }): void => {
    this.log.line(
      'warn',
      'too many requests with a wrong key; further ones are refused for a while',
      who,
    );
  };

  readonly streamed = ({ event, worker }: StreamNotice): void => {
    this.log.line(event === 'closed' ? 'debug' : 'info', STREAM_EVENTS[event], { worker });
  };

  readonly noticed = (notice: EngineNotice): void => {
    this.server.noticed(notice);
    switch (notice.type) {
      case 'recovered': {
        const { type: _, ...figures } = notice;
        return this.log.line('info', 'recovered from the log', figures);
      }
      case 'snapshot_saved':
        return this.log.line('info', 'a snapshot was saved', { position: notice.position });
      case 'log_trimmed':
        return this.log.line('info', 'the log was trimmed', { upTo: notice.upTo });
      case 'snapshot_unusable': {
        const { position, cause } = notice;
        const fields = { position, cause: causeText(cause) };
        return this.log.line(
          'error',
          'a snapshot is unusable and was skipped at this start',
          fields,
        );
      }
      case 'fold_failed':
        return this.log.line('error', 'a snapshot could not be made from the log', {
          cause: notice.reason,
        });
    }
  };

  readonly projected = ({ type, ...fields }: ProjectionNotice): void => {
    this.server.projected(type);
    const order = this.projectionLines.take(type);
    if (order === 'drop') return;
    const [level, message] = PROJECTION_EVENTS[type];
    const last =
      order === 'say last'
        ? { more: 'further messages of this kind are suppressed for up to an hour' }
        : {};
    this.log.line(level, message, { ...fields, ...last });
  };

  readonly timed = ({ type, ...fields }: ClockNotice): void => {
    const [level, message] = CLOCK_EVENTS[type];
    this.log.line(level, message, fields);
  };

  readonly blobDamaged = (path: string): void => {
    this.log.line('error', 'a blob is damaged on the disk and was set aside', { path });
  };

  readonly blobsUnswept = (cause: Error): void => {
    const why = { cause: cause.message };
    this.log.line('warn', 'unused blobs could not be removed; trying again later', why);
  };

  readonly statsUnsaved = (cause: Error): void => {
    this.log.line('error', 'figures for charts could not be written', { cause: cause.message });
  };

  readonly backupFailed = (cause: Error): void => {
    this.log.line('error', 'a backup failed', { cause: causeText(cause) });
  };

  close(): void {
    this.server.close();
  }
}

const PROJECTION_EVENTS = {
  day_removed: ['info', 'a day of finished tasks was removed'],
  day_set_aside: ['error', 'a day file of finished tasks is unreadable and was set aside'],
  day_of_other_version: [
    'warn',
    'a day file of finished tasks is of another version of Sluice; ' +
      'it was set aside and is rebuilt from the log',
  ],
  mark_of_other_version: [
    'warn',
    'the position file of search is of another version of Sluice; it was set aside, ' +
      'and search is rebuilt from the log',
  ],
  mark_set_aside: ['error', 'the position file of search is unreadable and was set aside'],
  row_set_aside: ['error', 'the row of a task is unreadable and was set aside'],
  record_left_out: ['error', 'a task cannot be written for search and was skipped'],
  record_not_shown: ['error', 'a task cannot be shown and was left out of an answer'],
  event_left_out: ['error', 'search cannot process an event and skipped it'],
  projection_gap: ['error', 'search has a gap: the log was trimmed beyond its position'],
  projection_failing: ['error', 'files for search cannot be written; tasks continue to run'],
  projection_recovered: ['info', 'files for search can be written again'],
  projection_ended: ['error', 'search has stopped; tasks continue to run; restart the server soon'],
  projection_given_up: ['error', 'search stopped long ago; the log is no longer kept for it'],
} as const satisfies Record<ProjectionNotice['type'], readonly [LogLevel, string]>;

const CLOCK_EVENTS = {
  clock_jump_refused: [
    'error',
    'the wall clock jumped ahead by more than an hour and is not followed; ' +
      'if it is right, restart the server',
  ],
  clock_jump_over: ['info', 'the wall clock is followed again'],
  log_ahead: [
    'warn',
    'the log is from a later time than the clock shows; time runs slower until they agree',
  ],
} as const satisfies Record<ClockNotice['type'], readonly [LogLevel, string]>;

const STREAM_EVENTS = {
  opened: 'a worker session was opened',
  resumed: 'a worker session was resumed',
  closed: 'the stream of a worker was closed',
  stalled: 'a worker does not read its stream; the stream was closed',
  ended: 'a worker session has ended',
} as const satisfies Record<StreamNotice['event'], string>;
