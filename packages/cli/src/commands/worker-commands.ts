import type { Worker } from '../api/answers.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import { ago, table } from '../screen/table.ts';
import { connect, print, printList, readList, SERVER_FLAGS, widthOf } from './shared.ts';

const listWorkers = defineCommand({
  name: 'worker list',
  summary: 'List the workers with their capacity and usage',
  flags: SERVER_FLAGS,
  examples: ['sluice worker list'],
  run: async ({ flags }, io) => {
    const list = await readList<Worker>(connect(flags, io), '/v1/workers');
    printList(io, flags, list, { none: 'no workers', table: workerTable });
    return ExitCode.done;
  },
});

export function workerTable(
  workers: readonly Worker[],
  columns?: number,
  now = Date.now(),
): string {
  return table(
    ['ID', 'NAME', 'VERSION', 'SLOTS', 'HEARD', 'STATE', 'TYPES'],
    workers.map((worker) => [
      worker.id,
      worker.name,
      worker.version,
      `${worker.used.slots ?? 0}/${worker.capacity.slots ?? 0}`,
      heardText(worker, now),
      stateOf(worker),
      worker.types.map(typeText).join(' '),
    ]),
    columns,
  );
}

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
