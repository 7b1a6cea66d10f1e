import type { Task } from '../api/answers.ts';
import { defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { ago, table } from '../screen/table.ts';
import {
  connect,
  limitOf,
  print,
  printList,
  readList,
  SERVER_FLAGS,
  stated,
  widthOf,
} from './shared.ts';
import { problemText } from './task-text.ts';

const TYPE_FLAG = { value: 'TYPE', help: 'only tasks of this type' } as const;

const FINGERPRINT_FLAG = {
  value: 'F',
  help: "only tasks with this error; see 'sluice dead-letter groups'",
} as const;

const DRY_RUN_FLAG = { help: 'only print how many match' } as const;

const listDeadLetters = defineCommand({
  name: 'dead-letter list',
  summary: 'List dead letters: tasks that failed or timed out for good, oldest first',
  flags: {
    type: TYPE_FLAG,
    fingerprint: FINGERPRINT_FLAG,
    limit: { value: 'N', short: 'n', help: 'maximum number of entries (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice dead-letter list --type transcode'],
  run: async ({ flags }, io) => {
    const limit = limitOf(flags.limit) ?? 50;
    const { type, fingerprint } = flags;
    const query = new URLSearchParams(stated({ type, fingerprint }) as Record<string, string>);
    const api = connect(flags, io);
    const list = await readList<Task>(api, '/v1/dead-letters', { query, limit });
    printList(io, flags, list, { none: 'no dead letters', table: deadTable });
    return ExitCode.done;
  },
});

export function deadTable(tasks: readonly Task[], columns?: number, now = Date.now()): string {
  return table(
    ['ID', 'TYPE', 'STATE', 'ATTEMPT', 'ENDED', 'ERROR'],
    tasks.map((task) => {
      const { id, type, state, attempt, endedAt } = task;
      return [id, type, state, attempt, `${ago(endedAt, now)} ago`, problemText(task)];
    }),
    columns,
  );
}

interface Groups {
  readonly items: readonly {
    readonly fingerprint: string;
    readonly type: string;
    readonly count: number;
    readonly message: string;
    readonly taskId: string;
    readonly lastEndedAt: string;
  }[];
  readonly others: number;
  readonly isComplete: boolean;
}

const groups = defineCommand({
  name: 'dead-letter groups',
  summary: 'Count dead letters by error',
  details: 'Errors that differ only in numbers, ids and quoted words count as the same.',
  flags: { type: TYPE_FLAG, ...SERVER_FLAGS },
  examples: ['sluice dead-letter groups', 'sluice dead-letter groups --type transcode'],
  run: async ({ flags }, io) => {
    const query = new URLSearchParams(stated({ type: flags.type }) as Record<string, string>);
    const path = `/v1/dead-letters/groups?${query}`;
    const found = await connect(flags, io).get<Groups>(path, ['items', 'others']);
    if (found.items.length === 0 && flags.json !== true) io.stderr('no dead letters');
    else print(io, flags, found, ({ items }) => groupTable(items, widthOf(io)));
    if (found.others > 0)
      io.stderr(`${found.others} more dead letters are in none of these groups`);
    if (found.isComplete === false)
      io.stderr('there are too many dead letters: the oldest were not counted');
    return ExitCode.done;
  },
});

function groupTable(items: Groups['items'], columns: number | undefined): string {
  const now = Date.now();
  return table(
    ['FINGERPRINT', 'COUNT', 'TYPE', 'LAST', 'TASK', 'ERROR'],
    items.map(({ fingerprint, count, type, lastEndedAt, taskId, message }) => [
      fingerprint,
      count,
      type,
      `${ago(lastEndedAt, now)} ago`,
      taskId,
      message,
    ]),
    columns,
  );
}

const redrive = defineCommand({
  name: 'dead-letter redrive',
  summary: 'Run dead letters again, at a given rate',
  details:
    'The redrive continues in the background, even after a restart of the server. With\n' +
    '--fingerprint and no --rate all of them run again immediately; with a rate each waits\n' +
    'for its time.',
  flags: {
    type: TYPE_FLAG,
    fingerprint: FINGERPRINT_FLAG,
    all: { help: 'all dead letters' },
    rate: { value: 'N', help: 'tasks per second (default 100; see above)' },
    'dry-run': DRY_RUN_FLAG,
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice dead-letter redrive --type transcode --rate 10',
    'sluice dead-letter redrive --all',
    'sluice dead-letter redrive --fingerprint 3f9a0c1d2e4b --rate 5',
  ],
  run: async ({ flags }, io) => {
    const { type, fingerprint, 'dry-run': dryRun } = flags;
    const filter = stated({ type, fingerprint });
    checkFilter('redrive', filter, flags.all);
    const body = stated({ filter, ratePerSec: rateOf(flags.rate), dryRun });
    const reply = await connect(flags, io).postOnce<{ id: string | null; count: number }>(
      '/v1/dead-letters/redrive',
      ['id', 'count'],
      body,
    );
    print(io, flags, reply, ({ id, count }) => {
      if (dryRun === true) return `${count} dead letters would run again`;
      return `${id === null ? '' : `${id}: `}${count} dead letters run again`;
    });
    return ExitCode.done;
  },
});

/** All dead letters are meant only when that is said. */
function checkFilter(word: string, filter: object, isAll = false): void {
  if ((Object.keys(filter).length === 0) === isAll) return;
  throw new UsageError(`'sluice dead-letter ${word}' needs --type TYPE, --fingerprint F or --all`);
}

function rateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,6}(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError(`--rate must be greater than 0, not '${text}'`);
}

interface Redrive {
  readonly id: string;
  readonly type: string | null;
  readonly ratePerSec: number;
  readonly startedAt: string;
  readonly done: number;
}

const listRedrives = defineCommand({
  name: 'dead-letter redrives',
  summary: 'List the redrives that are under way',
  flags: SERVER_FLAGS,
  examples: ['sluice dead-letter redrives'],
  run: async ({ flags }, io) => {
    const list = await readList<Redrive>(connect(flags, io), '/v1/dead-letters/redrives');
    printList(io, flags, list, { none: 'no redrives', table: redriveTable });
    return ExitCode.done;
  },
});

function redriveTable(redrives: readonly Redrive[], columns?: number): string {
  const now = Date.now();
  return table(
    ['ID', 'TYPE', 'RATE/S', 'DONE', 'STARTED'],
    redrives.map(({ id, type, ratePerSec, done, startedAt }) => [
      id,
      type ?? 'all',
      ratePerSec,
      done,
      `${ago(startedAt, now)} ago`,
    ]),
    columns,
  );
}

const stopRedrive = defineCommand({
  name: 'dead-letter stop-redrive',
  summary: 'Stop a redrive; tasks that it has not run again stay dead letters',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice dead-letter stop-redrive d_1'],
  run: async ({ args: [id], flags }, io) => {
    await connect(flags, io).delete(`/v1/dead-letters/redrives/${encodeURIComponent(id)}`);
    print(io, flags, { id, stopped: true }, () => `stopped ${id}`);
    return ExitCode.done;
  },
});

const discard = defineCommand({
  name: 'dead-letter discard',
  summary: 'Remove tasks from the dead letters; they stay failed',
  flags: {
    type: TYPE_FLAG,
    fingerprint: FINGERPRINT_FLAG,
    all: { help: 'all dead letters' },
    'dry-run': DRY_RUN_FLAG,
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice dead-letter discard --type transcode',
    'sluice dead-letter discard --fingerprint 3f9a0c1d2e4b --dry-run',
  ],
  run: async ({ flags }, io) => {
    const { type, fingerprint, 'dry-run': dryRun } = flags;
    const filter = stated({ type, fingerprint });
    checkFilter('discard', filter, flags.all);
    const reply = await connect(flags, io).post<{ matched: number; discarded: number }>(
      '/v1/dead-letters/discard',
      ['matched', 'discarded'],
      stated({ filter, dryRun }),
    );
    print(io, flags, reply, ({ matched, discarded }) => {
      return dryRun === true ? `${matched} would be discarded` : `${discarded} discarded`;
    });
    return ExitCode.done;
  },
});

export const deadLetterCommands = defineGroup(
  'dead-letter',
  'List, redrive and discard tasks that failed or timed out for good',
  {
    list: listDeadLetters,
    groups,
    redrive,
    redrives: listRedrives,
    'stop-redrive': stopRedrive,
    discard,
  },
);
