import { NO_SLOT, type SessionId, type Slot } from '../../base/ids.ts';
import type {
  ChangeSchedules,
  ScheduleOutcome,
} from '../../commands/schedules/change-schedules.ts';
import type {
  PauseSchedules,
  TriggerSchedule,
  TriggerScheduleReply,
} from '../../commands/schedules/operate-schedules.ts';
import type { Calendar } from '../../schedule/calendar.ts';
import { FIRE_REASONS, type ScheduleSettings } from '../../schedule/schedule-settings.ts';
import { settingsOf } from '../../state/schedules/read-schedule.ts';
import { describeState } from '../describe-state.ts';
import type { TestPartition } from '../test-partition.ts';
import { joined } from '../test-payloads.ts';
import { testUtf8 } from '../test-utf8.ts';

/** A calendar that knows one pattern: `every N`, with N milliseconds since 1970. */
export const TEST_CALENDAR: Calendar = {
  next: (cron, _zone, after) => {
    const every = Number(cron.slice('every '.length));
    return every === 0 ? 0 : (Math.floor(after / every) + 1) * every;
  },
  latest: (cron, _zone, { since, until }) => {
    const every = Number(cron.slice('every '.length));
    const time = Math.floor(until / every) * every;
    return time < since ? 0 : time;
  },
};

/** Settings with a task, and optionally its input as JSON text. */
export type TestSchedule = Omit<ScheduleSettings, 'task'> & {
  readonly type?: string;
  readonly input?: string;
  readonly paused?: boolean;
  readonly ifRevision?: number;
};

/** Schedules of a test partition. */
export class TestSchedules {
  private readonly partition: TestPartition;

  constructor(partition: TestPartition) {
    this.partition = partition;
  }

  put(name: string, schedule: TestSchedule): ScheduleOutcome {
    const { type = 'hello', input = '', paused, ifRevision, ...settings } = schedule;
    const work = settings.run === undefined ? { task: { type } } : {};
    return this.change({
      name,
      settings: { ...work, ...settings },
      input,
      ...(paused === undefined ? {} : { paused }),
      ...(ifRevision === undefined ? {} : { ifRevision }),
    });
  }

  remove(name: string): ScheduleOutcome {
    return this.change({ name, input: '' });
  }

  private change({
    input,
    ...change
  }: ChangeSchedules['changes'][number] & { readonly input: string }): ScheduleOutcome {
    const { bytes, ends } = joined([input]);
    const command = { type: 'change_schedules' as const, changes: [change] };
    const { outcomes } = this.partition.operate<ChangeSchedules>({
      ...command,
      inputs: bytes,
      inputEnds: ends,
    });
    return outcomes[0];
  }

  pause(name: string, paused = true): void {
    this.partition.operate<PauseSchedules>({ type: 'pause_schedules', names: [name], paused });
  }

  trigger(name: string): TriggerScheduleReply {
    return this.partition.operate<TriggerSchedule>({ type: 'trigger_schedule', name });
  }

  slotOf(name: string): Slot {
    const { state, namespace } = this.partition;
    const use = state.namespaces.find(namespace);
    return use === undefined ? NO_SLOT : state.schedules.find(use.index, testUtf8.encode(name));
  }

  get(name: string) {
    const slot = this.slotOf(name);
    const { state } = this.partition;
    const { table, timers } = state.schedules;
    return {
      settings: settingsOf(state, slot, testUtf8),
      nextAt: table.nextAt[slot],
      lastAt: table.lastAt[slot],
      fires: table.fires[slot],
      revision: table.revision[slot],
      paused: table.paused[slot] === 1,
      isBlocked: table.isBlocked[slot] === 1,
      reason: FIRE_REASONS[table.reason[slot]],
      hasTimer: timers.has(slot),
    };
  }

  /** Lets time pass, with every timer fired when it is due. */
  pass(ms: number): void {
    this.passUntil(this.partition.now + ms);
  }

  passUntil(until: number): void {
    const { partition } = this;
    for (;;) {
      const at = Math.max(partition.now, partition.nextTimerAt);
      if (at > until) break;
      partition.now = at;
      partition.advance();
    }
    partition.now = until;
  }

  /** The server is not there for a while. */
  outage(ms: number): void {
    this.partition.restart(1);
    this.partition.now += ms;
    this.partition.advance();
  }

  /** A worker with ten slots. */
  work(): SessionId {
    return this.partition.attach({ types: ['hello'], slots: 10 }).session as SessionId;
  }

  /** Ends everything that the worker runs. */
  finish(session: SessionId, kind: 'succeeded' | 'failed' = 'succeeded'): void {
    const ending = kind === 'failed' ? { kind, retryable: false } : { kind };
    for (const lease of this.partition.leasesOf(session)) {
      this.partition.report(session, { lease, ...ending });
    }
  }

  /** Throws when a restart, from the log or from a snapshot, would give another state. */
  isReplayed(): void {
    const { partition } = this;
    const expected = JSON.stringify(describeState(partition.state));
    for (const other of [partition.replayed(), partition.restored()]) {
      const isSame = JSON.stringify(describeState(other.state)) === expected;
      if (!isSame || other.hashState() !== partition.hashState()) {
        throw new Error(`a restart gives another state than ${expected}`);
      }
    }
  }
}
