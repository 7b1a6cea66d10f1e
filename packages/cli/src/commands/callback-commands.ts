import type { CallbackView } from '@sluice/protocol';
import { defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { ago, table } from '../screen/table.ts';
import { connect, limitOf, print, printList, readList, SERVER_FLAGS, stated } from './shared.ts';

const listCallbacks = defineCommand({
  name: 'callback list',
  summary: 'List callbacks that are pending or were given up, oldest first',
  flags: {
    'given-up': { help: 'only callbacks that were given up' },
    limit: { value: 'N', short: 'n', help: 'maximum number of entries (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice callback list', 'sluice callback list --given-up'],
  run: async ({ flags }, io) => {
    const limit = limitOf(flags.limit) ?? 50;
    const wanted = { state: flags['given-up'] === true ? 'given_up' : undefined };
    const query = new URLSearchParams(stated(wanted) as Record<string, string>);
    const api = connect(flags, io);
    const list = await readList<CallbackView>(api, '/v1/callbacks', { query, limit });
    printList(io, flags, list, { none: 'no callbacks', table: callbackTable });
    return ExitCode.done;
  },
});

function callbackTable(items: readonly CallbackView[], columns: number | undefined): string {
  const now = Date.now();
  return table(
    ['ID', 'ABOUT', 'CHANGE', 'AGE', 'STATE', 'TRIES', 'FAILURE', 'URL'],
    items.map(({ id, taskId, runId, type, changedAt, state, tries, failure, status, url }) => [
      id,
      taskId ?? runId ?? '',
      type,
      ago(changedAt, now),
      state,
      tries,
      status === null ? (failure ?? '') : `${failure} ${status}`,
      url,
    ]),
    columns,
  );
}

const redeliver = defineCommand({
  name: 'callback redeliver',
  summary: 'Try callbacks again now that were given up or wait for a retry',
  args: ['[ID...]'],
  flags: { all: { help: 'all callbacks that were given up' }, ...SERVER_FLAGS },
  examples: ['sluice callback redeliver c_0000000001', 'sluice callback redeliver --all'],
  run: async ({ args, flags }, io) => {
    if ((args.length === 0) === (flags.all !== true)) {
      throw new UsageError("'sluice callback redeliver' needs ids or --all");
    }
    const reply = await connect(flags, io).post<{ redelivered: number; unknown: string[] }>(
      '/v1/callbacks/redeliver',
      ['redelivered', 'unknown'],
      args.length === 0 ? {} : { ids: args },
    );
    print(io, flags, reply, ({ redelivered }) => `${redelivered} callbacks are tried again`);
    if (reply.unknown.length === 0) return ExitCode.done;
    io.stderr(`unknown, or already delivered: ${reply.unknown.join(', ')}`);
    return ExitCode.refused;
  },
});

interface Try {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly failure: string | null;
  readonly durationMs: number;
  readonly nextAt: string | null;
}

const log = defineCommand({
  name: 'callback log',
  summary: 'List every try of the callbacks of a task',
  args: ['TASK'],
  flags: SERVER_FLAGS,
  examples: ['sluice callback log t_01k7f6b1oj0000000001'],
  run: async ({ args: [id], flags }, io) => {
    const path = `/v1/tasks/${encodeURIComponent(id)}/callbacks`;
    const found = await connect(flags, io).get<{ items: readonly Try[] }>(path, ['items']);
    print(io, flags, found, ({ items }) =>
      table(
        ['TIME', 'ID', 'CHANGE', 'OUTCOME', 'STATUS', 'FAILURE', 'MS', 'NEXT'],
        items.map(({ at, id, type, outcome, status, failure, durationMs, nextAt }) => {
          return [at, id, type, outcome, status ?? '', failure ?? '', durationMs, nextAt ?? ''];
        }),
      ),
    );
    return ExitCode.done;
  },
});

export const callbackCommands = defineGroup('callback', 'Show and redeliver callbacks', {
  list: listCallbacks,
  log,
  redeliver,
});
