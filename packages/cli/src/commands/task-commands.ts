import { type Task, TERMINAL } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { type Command, DURATION, defineCommand, defineGroup } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { stylesFor } from '../screen/styles.ts';
import { table } from '../screen/table.ts';
import { visible } from '../screen/visible.ts';
import {
  connect,
  durationOf,
  inputOf,
  integerOf,
  jsonOf,
  limitOf,
  print,
  printList,
  readList,
  SERVER_FLAGS,
  stated,
  tagsOf,
  widthOf,
} from './shared.ts';
import { submitTask, waitForTask } from './submit-task.command.ts';
import { payloadText, taskTable, taskText } from './task-text.ts';
import { updateTask } from './update-task.command.ts';

const FILTER_FLAGS = {
  type: { value: 'TYPE', help: 'only tasks of this type' },
  state: { value: 'STATE', help: 'only tasks in this state: queued, running, failed, …' },
  tag: { value: 'NAME=VALUE', isMultiple: true, help: 'only tasks with this tag; can be repeated' },
  parent: { value: 'ID', help: 'only children of this task' },
  since: { value: 'TIME', help: 'only tasks submitted at this time (ISO 8601) or later' },
  until: { value: 'TIME', help: 'only tasks submitted before this time' },
} as const;

const listTasks = defineCommand({
  name: 'task list',
  summary: 'List tasks, newest first',
  flags: {
    ...FILTER_FLAGS,
    q: { value: 'TEXT', help: 'only tasks with this text in the input, output or error' },
    limit: { value: 'N', short: 'n', help: 'maximum number of entries (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice task list --state failed',
    'sluice task list --type transcode --tag team=video',
  ],
  run: async ({ flags }, io) => {
    const limit = limitOf(flags.limit) ?? 50;
    const query = new URLSearchParams(
      stated({
        type: flags.type,
        state: flags.state,
        parent: flags.parent,
        since: flags.since,
        until: flags.until,
        q: flags.q,
      }) as Record<string, string>,
    );
    for (const [name, value] of Object.entries(tagsOf(flags.tag) ?? {})) {
      query.append(`tag.${name}`, value);
    }
    const list = await readList<Task>(connect(flags, io), '/v1/tasks', { query, limit });
    printList(io, flags, list, { none: 'no tasks', table: taskTable });
    return ExitCode.done;
  },
});

const TASK_FIELDS = ['id', 'type', 'state', 'attempts'] as const;

/** A command that runs one operation on a task and shows the task. */
function operation(
  word: string,
  summary: string,
  send: (api: ApiCaller, path: string) => Promise<Task>,
): Command {
  return defineCommand({
    name: `task ${word}`,
    summary,
    args: ['ID'],
    flags: SERVER_FLAGS,
    examples: [`sluice task ${word} t_01k7f6b1oj0000000001`],
    run: async ({ args: [id], flags }, io) => {
      const task = await send(connect(flags, io), `/v1/tasks/${encodeURIComponent(id)}`);
      show(io, flags, task);
      return ExitCode.done;
    },
  });
}

function show(io: CommandIo, flags: { readonly json?: boolean }, task: Task): void {
  const styles = stylesFor({ isTerminal: io.terminal.isStdout, env: io.env });
  print(io, flags, task, (each) => taskText(each, { styles, columns: widthOf(io) }));
}

const retryTask = defineCommand({
  name: 'task retry',
  summary: 'Run tasks again that did not succeed',
  details:
    'A task keeps its id and gets all its attempts again. --input replaces the input of one\n' +
    "task; then 'sluice task history' shows the old one.",
  args: ['ID...'],
  flags: {
    input: { value: 'JSON', short: 'i', help: 'new input; @FILE reads a file, - reads stdin' },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice task retry t_01k7f6b1oj0000000001',
    'sluice task retry t_01k7f6b1oj0000000001 t_01k7f6b1oj0000000002',
    `sluice task retry t_01k7f6b1oj0000000001 --input '{"to": "ada@example.com"}'`,
  ],
  run: async ({ args: ids, flags }, io) => {
    const api = connect(flags, io);
    const [id, ...others] = ids;
    if (others.length > 0) {
      if (flags.input !== undefined) throw new UsageError('--input is for one task');
      // Not safe to repeat either.
      const reply = await api.postOnce<BulkReply>('/v1/tasks/retry', ['items'], { ids });
      print(io, flags, reply, outcomesText);
      return codeOf(reply);
    }
    const body = stated(await inputOf(api, await jsonOf(flags.input, 'input', io)));
    const path = `/v1/tasks/${encodeURIComponent(id)}/retry`;
    // Not safe to repeat: the task may have failed again meanwhile, and would run once more.
    show(io, flags, await api.postOnce<Task>(path, TASK_FIELDS, body));
    return ExitCode.done;
  },
});

interface BulkReply {
  readonly items?: readonly {
    readonly id: string;
    readonly state?: string;
    readonly error?: { readonly message: string };
  }[];
  readonly matched?: number;
  readonly cancelled?: number;
  readonly requested?: number;
}

const cancelTasks = defineCommand({
  name: 'task cancel',
  summary: 'Cancel tasks by id or by filter',
  details: 'A worker that holds such a task is told to stop, and has the --grace time to do so.',
  args: ['[ID...]'],
  flags: {
    ...FILTER_FLAGS,
    grace: { value: DURATION, help: 'time for a worker to stop (default 10s)' },
    'dry-run': { help: 'only print how many tasks match' },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice task cancel t_01k7f6b1oj0000000001',
    'sluice task cancel --type transcode --tag customer=42 --dry-run',
  ],
  run: async ({ args: ids, flags }, io) => {
    const { type, state, parent, since, until } = flags;
    const filter = stated({ type, state, parentId: parent, since, until, tags: tagsOf(flags.tag) });
    const hasFilter = Object.keys(filter).length > 0;
    if (hasFilter === ids.length > 0) {
      throw new UsageError("'sluice task cancel' needs ids, or filters such as --type");
    }
    const reply = await connect(flags, io).post<BulkReply>(
      '/v1/tasks/cancel',
      [hasFilter ? 'matched' : 'items'],
      stated({
        ...(hasFilter ? { filter } : { ids }),
        graceMs: durationOf(flags.grace, 'grace'),
        dryRun: flags['dry-run'],
      }),
    );
    print(io, flags, reply, cancelText);
    return codeOf(reply);
  },
});

function codeOf({ items = [] }: BulkReply): ExitCode {
  return items.some(({ error }) => error !== undefined) ? ExitCode.refused : ExitCode.done;
}

function outcomesText({ items = [] }: BulkReply): string {
  return items
    .map(({ id, state = '', error }) => visible(`${id}  ${error?.message ?? state}`))
    .join('\n');
}

function cancelText({ items, matched = 0, cancelled = 0, requested = 0 }: BulkReply): string {
  if (items !== undefined) {
    return items
      .map(({ id, state = '', error }) => {
        const done = TERMINAL.includes(state) ? state : `${state}; its worker was told to stop`;
        return visible(`${id}  ${error?.message ?? done}`);
      })
      .join('\n');
  }
  const told = requested === 0 ? '' : `, ${requested} workers were told to stop`;
  return `${matched} tasks: ${cancelled} cancelled${told}`;
}

interface Explanation {
  readonly running: boolean;
  readonly reasons: readonly { code: string; message: string; worker?: string }[];
  readonly workersNotShown: number;
}

const explainTask = defineCommand({
  name: 'task explain',
  summary: 'Explain why a task is not running, for each worker',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice task explain t_01k7f6b1oj0000000001'],
  run: async ({ args: [id], flags }, io) => {
    const path = `/v1/tasks/${encodeURIComponent(id)}/explain`;
    print(io, flags, await connect(flags, io).get<Explanation>(path, ['reasons']), explanationText);
    return ExitCode.done;
  },
});

function explanationText({ running, reasons, workersNotShown }: Explanation): string {
  if (running) return 'the task is running';
  const lines = reasons.map(({ code, message, worker }) => {
    return visible(`${code}: ${worker === undefined ? '' : `worker ${worker} `}${message}`);
  });
  if (workersNotShown > 0) lines.push(`and ${workersNotShown} more workers`);
  return lines.length === 0
    ? 'nothing blocks it: a worker will get it at any moment'
    : lines.join('\n');
}

interface Change {
  readonly at: string;
  readonly from: string | null;
  readonly to: string;
  readonly reason: string;
  readonly attempt: number;
  readonly worker: string | null;
  readonly inputBefore?: unknown;
  readonly inputBlobBefore?: string;
}

const taskHistory = defineCommand({
  name: 'task history',
  summary: 'List every change of a task',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice task history t_01k7f6b1oj0000000001'],
  run: async ({ args: [id], flags }, io) => {
    const path = `/v1/tasks/${encodeURIComponent(id)}/history`;
    const history = await connect(flags, io).get<{ items: readonly Change[] }>(path, ['items']);
    print(io, flags, history, ({ items }) => historyTable(items, widthOf(io)));
    return ExitCode.done;
  },
});

/** Inputs that a retry replaced have a column if there are any. */
function historyTable(changes: readonly Change[], columns: number | undefined): string {
  const isReplaced = (change: Change) => 'inputBefore' in change || 'inputBlobBefore' in change;
  const hasInputs = changes.some(isReplaced);
  const head = ['TIME', 'FROM', 'TO', 'REASON', 'ATTEMPT', 'WORKER'];
  const rows = changes.map((change) => {
    const { at, from, to, reason, attempt, worker, inputBefore, inputBlobBefore } = change;
    const row = [at, from ?? '', to, reason, attempt === 0 ? '' : attempt, worker ?? ''];
    if (!hasInputs) return row;
    return [...row, isReplaced(change) ? payloadText(inputBefore, inputBlobBefore, 200) : ''];
  });
  return table(hasInputs ? [...head, 'INPUT BEFORE'] : head, rows, columns);
}

interface LogLine {
  readonly attempt: number;
  readonly at: string;
  readonly line: string;
}

const taskLogs = defineCommand({
  name: 'task logs',
  summary: 'Print the lines that handlers logged for a task',
  details: 'Each line has its time and the number of its attempt, unless --plain is given.',
  args: ['ID'],
  flags: {
    follow: { short: 'f', help: 'keep printing new lines until the task ends' },
    attempt: { value: 'N', help: 'only lines of this attempt' },
    limit: { value: 'N', short: 'n', help: 'number of last lines (default 1000)' },
    plain: { help: 'only the lines themselves' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice task logs t_01k7f6b1oj0000000001 --follow'],
  run: async ({ args: [id], flags }, io) => {
    const path = `/v1/tasks/${encodeURIComponent(id)}/logs`;
    const api = connect(flags, io);
    const styles = stylesFor({ isTerminal: io.terminal.isStdout, env: io.env });
    const textOf = ({ at, attempt: number, line }: LogLine) =>
      flags.plain === true ? visible(line) : `${styles.dim(`${at} #${number}`)} ${visible(line)}`;
    const show = (line: LogLine) =>
      io.stdout(flags.json === true ? JSON.stringify(line) : textOf(line));
    const attempt = integerOf(flags.attempt, 'attempt');
    if (flags.follow === true) {
      await api.follow(`${path}?follow=true`, (name, data) => {
        if (name !== 'lines') return;
        // The stream contains all attempts.
        for (const line of data as LogLine[]) {
          if (attempt === undefined || line.attempt === attempt) show(line);
        }
      });
      return ExitCode.done;
    }
    const limit = limitOf(flags.limit)?.toString();
    const query = new URLSearchParams(
      stated({ attempt: attempt?.toString(), limit }) as Record<string, string>,
    );
    const { items } = await api.get<{ items: readonly LogLine[] }>(`${path}?${query}`, ['items']);
    items.forEach(show);
    if (items.length === 0) io.stderr('no log lines');
    return ExitCode.done;
  },
});

const signalTask = defineCommand({
  name: 'task signal',
  summary: 'Send a message to the handler that runs a task',
  args: ['ID', 'NAME'],
  flags: {
    data: { value: 'JSON', help: 'data of the signal; @FILE reads a file, - reads stdin' },
    ...SERVER_FLAGS,
  },
  examples: [`sluice task signal t_01k7f6b1oj0000000001 bitrate --data '{"kbps": 800}'`],
  run: async ({ args: [id, name], flags }, io) => {
    const data = await jsonOf(flags.data, 'data', io);
    await connect(flags, io).postOnce(
      `/v1/tasks/${encodeURIComponent(id)}/signal`,
      [],
      stated({ name, data }),
    );
    if (flags.json === true) io.stdout(JSON.stringify({ id, name }, null, 2));
    return ExitCode.done;
  },
});

export const taskCommands = defineGroup('task', 'Submit, show, change and cancel tasks', {
  submit: submitTask,
  list: listTasks,
  get: operation('get', 'Show a task', (api, path) => api.get(path, TASK_FIELDS)),
  wait: waitForTask,
  update: updateTask,
  cancel: cancelTasks,
  retry: retryTask,
  pause: operation('pause', 'Pause a task that no worker holds', (api, path) => {
    return api.post(`${path}/pause`, TASK_FIELDS);
  }),
  resume: operation('resume', 'Resume a paused task', (api, path) => {
    return api.post(`${path}/resume`, TASK_FIELDS);
  }),
  explain: explainTask,
  history: taskHistory,
  logs: taskLogs,
  signal: signalTask,
});
