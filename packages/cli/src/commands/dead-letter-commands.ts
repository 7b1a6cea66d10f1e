import type { Task } from '../api/task-shapes.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import { ago, short, table } from '../screen/table.ts';
import { UsageError } from '../usage-error.ts';
import { connect, limitOf, print, readList, SERVER_FLAGS, stated } from './shared.ts';
import { errorText } from './task-text.ts';

const TYPE_FLAG = { value: 'TYPE', help: 'of this type' } as const;

const listDeadLetters = defineCommand({
  name: 'dead-letter list',
  summary: 'List failed and timed-out tasks, the first to end first',
  flags: {
    type: TYPE_FLAG,
    limit: { value: 'N', short: 'n', help: 'at most so many (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice dead-letter list --type transcode'],
  run: async ({ flags }, io) => {
    const limit = limitOf(flags.limit) ?? 50;
    const query = new URLSearchParams(stated({ type: flags.type }) as Record<string, string>);
    const api = connect(flags, io);
    const { items, isMore } = await readList<Task>(api, '/v1/dead-letters', { query, limit });
    if (items.length === 0 && flags.json !== true) io.stderr('no dead letters');
    else print(io, flags, { items }, () => deadTable(items, Date.now()));
    if (isMore) io.stderr('there are more; see --limit');
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
    return ExitCode.done;
  },
});

function groupTable(items: Groups['items'], now: number): string {
  return table(
    ['COUNT', 'TYPE', 'LAST', 'TASK', 'ERROR'],
    items.map(({ count, type, lastEndedAt, taskId, message }) => [
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
  details: 'It goes on by itself, also after a restart of the server.',
  flags: {
    type: { ...TYPE_FLAG, help: 'of this type only (default: of all)' },
    rate: { value: 'N', help: 'so many a second (default 100)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice dead-letter redrive --type transcode --rate 10'],
  run: async ({ flags }, io) => {
    const filter = flags.type === undefined ? undefined : { type: flags.type };
    const body = stated({ filter, ratePerSec: rateOf(flags.rate) });
    const reply = await connect(flags, io).postOnce<{ id: string; count: number }>(
      '/v1/dead-letters/redrive',
      ['id', 'count'],
      body,
    );
    print(io, flags, reply, ({ id, count }) => `${id}: ${count} dead letters run again`);
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
    type: { ...TYPE_FLAG, help: 'of this type' },
    all: { help: 'of all types' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice dead-letter discard --type transcode'],
  run: async ({ flags }, io) => {
    if ((flags.type === undefined) === (flags.all !== true)) {
      throw new UsageError("'sluice dead-letter discard' needs --type TYPE or --all");
    }
    const filter = flags.type === undefined ? {} : { type: flags.type };
    const reply = await connect(flags, io).post<{ discarded: number }>(
      '/v1/dead-letters/discard',
      ['discarded'],
      { filter },
    );
    print(io, flags, reply, ({ discarded }) => `${discarded} discarded`);
    return ExitCode.done;
  },
});

export const deadLetterCommands = defineGroup(
  'dead-letter',
  'Deal with tasks that failed or timed out for good',
  { list: listDeadLetters, groups, redrive, discard },
);
