import type { Task } from '../api/task-shapes.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import { ago, short, table } from '../screen/table.ts';
import { UsageError } from '../usage-error.ts';
import { connect, limitOf, print, printList, readList, SERVER_FLAGS, stated } from './shared.ts';
import { errorText } from './task-text.ts';

const TYPE_FLAG = { value: 'TYPE', help: 'of this type' } as const;

const FINGERPRINT_FLAG = {
  value: 'F',
  help: "with errors like these; see 'sluice dead-letter groups'",
} as const;

const DRY_RUN_FLAG = { help: 'count, and change nothing' } as const;

const listDeadLetters = defineCommand({
  name: 'dead-letter list',
  summary: 'List failed and timed-out tasks, the first to end first',
  flags: {
    type: TYPE_FLAG,
    fingerprint: FINGERPRINT_FLAG,
    limit: { value: 'N', short: 'n', help: 'at most so many (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice dead-letter list --type transcode'],
  run: async ({ flags }, io) => {
    const limit = limitOf(flags.limit) ?? 50;
    const { type, fingerprint } = flags;
    const query = new URLSearchParams(stated({ type, fingerprint }) as Record<string, string>);
    const api = connect(flags, io);
    const list = await readList<Task>(api, '/v1/dead-letters', { query, limit });
    const table = (items: readonly Task[]) => deadTable(items, Date.now());
    printList(io, flags, list, { none: 'no dead letters', table });
    return ExitCode.done;
  },
});

function deadTable(tasks: readonly Task[], now: number): string {
  return table(
    ['ID', 'TYPE', 'STATE', 'ATTEMPT', 'ENDED', 'ERROR'],
    tasks.map(({ id, type, state, attempt, endedAt, error }) => [
      id,
      type,
      state,
      attempt,
      `${ago(endedAt, now)} ago`,
      error === null ? '' : short(errorText(error), 60),
    ]),
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
  summary: 'Count failed and timed-out tasks by what went wrong',
  details: 'Errors that differ in numbers, ids and quoted words alone count as the same.',
  flags: { type: TYPE_FLAG, ...SERVER_FLAGS },
  examples: ['sluice dead-letter groups', 'sluice dead-letter groups --type transcode'],
  run: async ({ flags }, io) => {
    const query = new URLSearchParams(stated({ type: flags.type }) as Record<string, string>);
    const path = `/v1/dead-letters/groups?${query}`;
    const found = await connect(flags, io).get<Groups>(path, ['items', 'others']);
    if (found.items.length === 0 && flags.json !== true) io.stderr('no dead letters');
    else print(io, flags, found, ({ items }) => groupTable(items, Date.now()));
    if (found.others > 0) io.stderr(`${found.others} others are in none of these`);
    if (found.isComplete === false) io.stderr('there are too many: the oldest were not counted');
    return ExitCode.done;
  },
});

function groupTable(items: Groups['items'], now: number): string {
  return table(
    ['FINGERPRINT', 'COUNT', 'TYPE', 'LAST', 'TASK', 'ERROR'],
    items.map(({ fingerprint, count, type, lastEndedAt, taskId, message }) => [
      fingerprint,
      count,
      type,
      `${ago(lastEndedAt, now)} ago`,
      taskId,
      short(message, 60),
    ]),
  );
}

const redrive = defineCommand({
  name: 'dead-letter redrive',
  summary: 'Run dead letters again, so many a second',
  details:
    'It goes on by itself, also after a restart of the server. With --fingerprint all of them\n' +
    'run again at once.',
  flags: {
    type: { ...TYPE_FLAG, help: 'of this type only (default: of all)' },
    fingerprint: FINGERPRINT_FLAG,
    rate: { value: 'N', help: 'so many a second (default 100)' },
    'dry-run': DRY_RUN_FLAG,
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice dead-letter redrive --type transcode --rate 10',
    'sluice dead-letter redrive --fingerprint 3f9a0c1d2e4b --dry-run',
  ],
  run: async ({ flags }, io) => {
    const { type, fingerprint, 'dry-run': dryRun } = flags;
    if (fingerprint !== undefined && flags.rate !== undefined) {
      throw new UsageError('--rate does not go with --fingerprint: all run again at once');
    }
    const filter = stated({ type, fingerprint });
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

function rateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,6}(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError(`--rate takes a number above 0, not '${text}'`);
}

const discard = defineCommand({
  name: 'dead-letter discard',
  summary: 'Take tasks off the list of dead letters; they stay failed',
  flags: {
    type: TYPE_FLAG,
    fingerprint: FINGERPRINT_FLAG,
    all: { help: 'all of them' },
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
    if ((Object.keys(filter).length === 0) === (flags.all !== true)) {
      throw new UsageError(
        "'sluice dead-letter discard' needs --type TYPE, --fingerprint F or --all",
      );
    }
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
  'Deal with tasks that failed or timed out for good',
  { list: listDeadLetters, groups, redrive, discard },
);
