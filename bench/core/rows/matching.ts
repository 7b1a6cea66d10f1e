import type { TaskSpec } from '@sluice/core';
import { type Figure, type Row, secondsOf } from '../../row.ts';
import { CoreLoad } from '../core-load.ts';
import { submitTasksRequest } from '../requests.ts';

const WORKERS = 1000;
const SLOTS = 10;
const TYPES = 100;
const TYPES_PER_WORKER = 10;
const SHAPES = 1000;
const ZONES = 10;
const BATCH = 100;

/** Finding a worker among many for tasks of many kinds, and a task among many for a worker. */
export const row: Row = {
  measure: async ({ share }) => {
    const tasks = 200_000 * share;
    return [withRoom(tasks), withBacklog(tasks)];
  },
};

/** Nearly every worker has room: a submit is leased immediately, then completed task by task. */
function withRoom(tasks: number): Figure {
  const load = loadWithWorkers();
  let pushed = 0;
  const seconds = secondsOf(() => {
    for (let sent = 0; sent < tasks; sent += BATCH) {
      submitMixed(load, sent);
      for (const [session, lease] of load.grantedPairs()) {
        pushed += 1;
        load.complete(session, [lease]);
      }
    }
  });
  return figure('whole life, workers with room', seconds, pushed);
}

/** No worker has room: each end makes room, which the backlog fills. */
function withBacklog(tasks: number): Figure {
  const load = loadWithWorkers();
  const held: [string, string][] = [];
  for (let sent = 0; sent < WORKERS * SLOTS + tasks; sent += BATCH) {
    submitMixed(load, sent);
    held.push(...load.grantedPairs());
  }
  let ended = 0;
  const seconds = secondsOf(() => {
    for (; ended < held.length; ended++) {
      const [session, lease] = held[ended];
      load.complete(session, [lease]);
      held.push(...load.grantedPairs());
    }
  });
  return figure('end and next lease, a backlog', seconds, ended);
}

function loadWithWorkers(): CoreLoad {
  const load = new CoreLoad();
  for (let worker = 0; worker < WORKERS; worker++) {
    const types = Array.from({ length: TYPES_PER_WORKER }, (_, place) => ({
      type: typeOf(worker + place * 7),
    }));
    load.attach(`s${worker}`, SLOTS, {
      types,
      capacity: { slots: SLOTS, cpu: 16, memoryMb: 65_536 },
      labels: new Map([['zone', zoneOf(worker)]]),
    });
  }
  return load;
}

function submitMixed(load: CoreLoad, first: number): void {
  const tasks = Array.from({ length: BATCH }, (_, place) => taskOf(first + place));
  load.submit(submitTasksRequest(tasks));
}

/** Steps that share no factor with the counts, so that all pairs of types and shapes occur. */
function taskOf(number: number): TaskSpec {
  const shape = (number * 7) % SHAPES;
  return {
    type: typeOf(number * 13),
    resources: {
      cpu: 0.1 * (1 + (shape % 10)),
      memoryMb: 64 * (1 + (Math.floor(shape / 10) % 10)),
    },
    constraints: [`zone != ${zoneOf(Math.floor(shape / 100))}`],
  };
}

function typeOf(number: number): string {
  return `type-${number % TYPES}`;
}

function zoneOf(number: number): string {
  return `zone-${number % ZONES}`;
}

function figure(what: string, seconds: number, tasks: number): Figure {
  const setting = '1,000 workers, 100 types, 1,000 shapes';
  return { what: `${setting}: ${what}`, unit: 'µs/task', value: (seconds * 1e6) / tasks };
}
