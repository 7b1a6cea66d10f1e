import type { Worker } from '../api/answers.ts';
import { defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { ago, table } from '../screen/table.ts';
import { connect, print, printList, readList, SERVER_FLAGS, widthOf } from './shared.ts';

const listWorkers = defineCommand({
  name: 'worker list',
  summary: 'List the workers with their capacity, usage and labels, and what they do not take now',
  flags: SERVER_FLAGS,
  examples: ['sluice worker list'],
  run: async ({ flags }, io) => {
    const list = await readList<Worker>(connect(flags, io), '/v1/workers');
    printList(io, flags, list, { none: 'no workers', table: workerList });
    return ExitCode.done;
  },
});

const COLUMNS = ['ID', 'NAME', 'VERSION', 'SLOTS', 'HEARD', 'STATE', 'TYPES'];

export function workerTable(workers: readonly Worker[], columns?: number): string {
  const now = Date.now();
  return table(
    COLUMNS,
    workers.map((worker) => cellsOf(worker, now)),
    columns,
  );
}

/** With labels, and below the table what is missing in an offer, and why. */
export function workerList(workers: readonly Worker[], columns?: number, now = Date.now()): string {
  const rows = workers.map((worker) => [...cellsOf(worker, now), labelsText(worker)]);
  const notes = workers.flatMap(notesOn);
  const list = table([...COLUMNS, 'LABELS'], rows, columns);
  return notes.length === 0 ? list : [list, '', ...notes].join('\n');
}

function cellsOf(worker: Worker, now: number): string[] {
  return [
    worker.id,
    worker.name,
    worker.version,
    `${worker.used.slots ?? 0}/${worker.capacity.slots ?? 0}`,
    heardText(worker, now),
    stateOf(worker),
    worker.types.map(typeText).join(' '),
  ];
}

function labelsText({ labels }: Worker): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.sort().join(' ');
}

/** Each is a separate line, so that no terminal cuts the reason. */
function notesOn({ id, types, labels }: Worker): string[] {
  const away = types.flatMap(({ type, unavailable }) => {
    return unavailable === undefined ? [] : [`${id} takes no '${type}' now: ${unavailable}`];
  });
  return labels.limits === 'rlimits' ? [...away, `${id} ${WITHOUT_GROUPS}`] : away;
}

/** The agent says all that it misses when it starts. */
const WITHOUT_GROUPS =
  'has no control groups: cpu and processes are not limited, memory only for each process, ' +
  'use is not measured';

function typeText({ type, unavailable }: Worker['types'][number]): string {
  return unavailable === undefined ? type : `${type} (not now)`;
}

/** A worker without leases need not report: its session lasts as long as its connection. */
function heardText({ connected, heardAt, types }: Worker, now: number): string {
  const isIdle = types.every(({ leased }) => leased === 0);
  return connected && isIdle ? 'now' : ago(heardAt, now);
}

function stateOf({ connected, draining }: Worker): string {
  if (!connected) return 'away';
  return draining ? 'draining' : 'connected';
}

const drainWorker = defineCommand({
  name: 'worker drain',
  summary: 'Give a worker no new tasks; it finishes those that it holds',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice worker drain w_1f0c6a7a2d9b3c5e8f4e'],
  run: async ({ args: [id], flags }, io) => {
    const path = `/v1/workers/${encodeURIComponent(id)}/drain`;
    const worker = await connect(flags, io).post<Worker>(path, ['id', 'types']);
    print(io, flags, worker, (each) => workerTable([each], widthOf(io)));
    return ExitCode.done;
  },
});

export const workerCommands = defineGroup('worker', 'List and drain workers', {
  list: listWorkers,
  drain: drainWorker,
});
