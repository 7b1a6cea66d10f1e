/** What needs somebody now, each with the page where it is dealt with. */
import type { Answer, Item } from '../../base/api.ts';
import { bytes, duration, plural, words } from '../../base/words.ts';

export interface Attention {
  readonly tone: 'bad' | 'warn';
  readonly text: string;
  readonly to: '/dead-letters' | '/queues' | '/workers' | '/schedules' | '/settings';
  readonly action: string;
  readonly search?: Readonly<Record<string, string>>;
}

interface Seen {
  readonly queues: readonly Item<'GET /v1/queues'>[];
  readonly workers: readonly Item<'GET /v1/workers'>[];
  readonly schedules: readonly Item<'GET /v1/schedules'>[];
  readonly undelivered: number;
  readonly cluster: Answer<'GET /v1/cluster'> | undefined;
}

/** A queue whose head waits longer than this deserves a look. */
const OLD_HEAD_MS = 60_000;
const DISK_SHARE_MIN = 0.1;
const LISTED_MAX = 3;

export function attentionOf(seen: Seen): Attention[] {
  return [
    ...serverTroubles(seen.cluster),
    ...deadLetters(seen.queues),
    ...stuckQueues(seen.queues),
    ...lostWorkers(seen.workers),
    ...missedSchedules(seen.schedules),
    ...callbacks(seen.undelivered),
  ];
}

function serverTroubles(cluster: Seen['cluster']): Attention[] {
  if (cluster === undefined) return [];
  const { projection, disk, partitions, clock } = cluster;
  const found: string[] = [];
  if (partitions.some(({ log }) => log?.isFull === true)) {
    found.push('The disk is full: submits are refused');
  } else if (disk !== undefined && disk.freeBytes / disk.totalBytes < DISK_SHARE_MIN) {
    found.push(`Only ${bytes(disk.freeBytes)} of disk space are left`);
  }
  if (projection.state !== 'ok') {
    found.push(`Search and history are ${words(projection.state)}: ${projection.why ?? ''}`);
  }
  if (clock !== undefined && clock.state !== 'ok') {
    found.push(`The clock of the machine: ${words(clock.state)}`);
  }
  const place = { tone: 'bad', to: '/settings', action: 'About the server' } as const;
  return found.map((text) => ({ ...place, text }));
}

function deadLetters(queues: Seen['queues']): Attention[] {
  const total = queues.reduce((sum, queue) => sum + queue.deadLetters, 0);
  if (total === 0) return [];
  const types = queues.filter((queue) => queue.deadLetters > 0).map(({ type }) => type);
  const text = `${plural(total, 'dead letter')} of ${listed(types)}`;
  return [{ tone: 'bad', text, to: '/dead-letters', action: 'See the errors' }];
}

function stuckQueues(queues: Seen['queues']): Attention[] {
  return queues.flatMap((queue): Attention[] => {
    const { type, depth, paused, workers, oldestAgeMs } = queue;
    if (depth === 0) return [];
    const place = { to: '/queues', action: 'See the queue' } as const;
    if (paused) {
      return [
        { ...place, tone: 'warn', text: `Queue ${type} is paused, ${plural(depth, 'task')} wait` },
      ];
    }
    if (workers === 0) {
      const text = `No worker runs ${type}, ${plural(depth, 'task')} wait`;
      return [{ tone: 'bad', text, to: '/workers', action: 'See the workers' }];
    }
    if ((oldestAgeMs ?? 0) < OLD_HEAD_MS) return [];
    const age = duration(oldestAgeMs ?? 0);
    return [{ ...place, tone: 'warn', text: `The oldest task of ${type} has waited for ${age}` }];
  });
}

function lostWorkers(workers: Seen['workers']): Attention[] {
  const lost = workers.filter(({ connected }) => !connected).map(({ name }) => name);
  if (lost.length === 0) return [];
  const text = `${plural(lost.length, 'worker')} lost the connection: ${listed(lost)}`;
  return [{ tone: 'warn', text, to: '/workers', action: 'See the workers' }];
}

function missedSchedules(schedules: Seen['schedules']): Attention[] {
  const missed = schedules.filter(
    ({ lastSkip, lastFireAt, state }) =>
      state === 'active' &&
      lastSkip !== null &&
      lastSkip.reason !== 'overlap' &&
      (lastFireAt === null || lastSkip.scheduledAt > lastFireAt),
  );
  if (missed.length === 0) return [];
  const text = `${plural(missed.length, 'schedule')} did not fire: ${listed(missed.map(({ id }) => id))}`;
  return [{ tone: 'bad', text, to: '/schedules', action: 'See the schedules' }];
}

function callbacks(undelivered: number): Attention[] {
  if (undelivered === 0) return [];
  const text = `${plural(undelivered, 'callback')} could not be delivered`;
  const search = { view: 'callbacks' };
  return [{ tone: 'warn', text, to: '/settings', action: 'See the callbacks', search }];
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, LISTED_MAX).join(', ');
  const rest = names.length - LISTED_MAX;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}
