import type { Preview, ScheduleExplanation } from '@sluice/protocol';
import type { Fire, Page, Schedule } from '../api/answers.ts';
import { defineCommand, defineGroup } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import {
  connect,
  integerOf,
  limitOf,
  print,
  printList,
  readList,
  SERVER_FLAGS,
  type ServerFlags,
  stated,
  tagsOf,
} from '../commands/shared.ts';
import { stylesFor } from '../screen/styles.ts';
import { visible } from '../screen/visible.ts';
import { applySchedules } from './apply-schedules.command.ts';
import { backfillSchedule } from './backfill-schedule.command.ts';
import { aboutSchedule, pathOf } from './one-schedule.ts';
import { putSchedule } from './put-schedule.command.ts';
import {
  distance,
  fireTable,
  scheduleTable,
  scheduleText,
  timesText,
  utcText,
  whatText,
  whenText,
} from './schedule-text.ts';

/** Next times and last fires that `get` shows. */
const SHOWN = 5;

const listSchedules = defineCommand({
  name: 'schedule list',
  summary: 'List schedules with their next and last fires',
  flags: {
    state: { value: 'STATE', help: 'only active, paused or completed ones' },
    type: { value: 'TYPE', help: 'only those that submit tasks of this type' },
    workflow: { value: 'NAME', help: 'only those that start runs of this workflow' },
    tag: { value: 'NAME=VALUE', isMultiple: true, help: 'only with this tag; can be repeated' },
    search: { value: 'TEXT', help: 'only with this text in the id' },
    'next-before': { value: 'TIME', help: 'only with a next fire before this time (ISO 8601)' },
    'next-after': { value: 'TIME', help: 'only with a next fire after this time' },
    limit: { value: 'N', short: 'n', help: 'maximum number of entries (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice schedule list',
    'sluice schedule list --state paused --tag team=data',
    'sluice schedule list --search report --limit 500',
  ],
  run: async ({ flags }, io) => {
    const limit = limitOf(flags.limit) ?? 50;
    const { state, type, workflow, search: q } = flags;
    const range = { nextBefore: flags['next-before'], nextAfter: flags['next-after'] };
    const filters = stated({ state, type, workflow, q, ...range }) as Record<string, string>;
    const query = new URLSearchParams(filters);
    for (const [name, value] of Object.entries(tagsOf(flags.tag) ?? {})) {
      query.append(`tag.${name}`, value);
    }
    const isFiltered = query.size > 0;
    const list = await readList<Schedule>(connect(flags, io), '/v1/schedules', { query, limit });
    const none = isFiltered
      ? 'no schedules match'
      : "no schedules; 'sluice schedule put --help' shows how to create one";
    printList(io, flags, list, { none, table: scheduleTable });
    return ExitCode.done;
  },
});

const getSchedule = defineCommand({
  name: 'schedule get',
  summary: 'Show a schedule with its next times and its last fires',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice schedule get nightly-report', 'sluice schedule get nightly-report --json'],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    const path = pathOf(id);
    const schedule = await aboutSchedule(
      api,
      id,
      api.get<Schedule>(path, ['id', 'state', 'spec', 'running']),
    );
    const [next, fires] = await Promise.all([
      api.get<Preview>(`${path}/preview?count=${SHOWN}`, ['items']),
      api.get<Page<Fire>>(`${path}/fires?limit=${SHOWN}`, ['items']),
    ]);
    const nextFires = next.items.map(({ at }) => at);
    const styles = stylesFor({ isTerminal: io.terminal.isStdout, env: io.env });
    print(io, flags, { ...schedule, nextFires, lastFires: fires.items }, (each) =>
      scheduleText(each, { styles }),
    );
    return ExitCode.done;
  },
});

const pauseSchedule = defineCommand({
  name: 'schedule pause',
  summary: 'Pause a schedule: it does not fire, and replicas of a permanent one are stopped',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice schedule pause nightly-report'],
  run: ({ args: [id], flags }, io) => operate(io, flags, { id, action: 'pause' }),
});

const resumeSchedule = defineCommand({
  name: 'schedule resume',
  summary: 'Resume a paused schedule; times missed during the pause are skipped',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice schedule resume nightly-report'],
  run: ({ args: [id], flags }, io) => operate(io, flags, { id, action: 'resume' }),
});

async function operate(
  io: CommandIo,
  flags: ServerFlags,
  { id, action }: { readonly id: string; readonly action: 'pause' | 'resume' },
): Promise<ExitCode> {
  const api = connect(flags, io);
  const call = api.post<Schedule>(`${pathOf(id)}/${action}`, ['id', 'state', 'spec'], {});
  const schedule = await aboutSchedule(api, id, call);
  print(io, flags, schedule, stateLine);
  return ExitCode.done;
}

function stateLine(schedule: Schedule): string {
  const { id, state, spec, nextFireAt } = schedule;
  const next =
    nextFireAt === null
      ? ''
      : `; next fire ${distance(nextFireAt, Date.now())}, at ${utcText(nextFireAt)}`;
  return `${visible(id)} is ${state}: ${whatText(schedule)}, ${whenText(spec)}${next}`;
}

const triggerSchedule = defineCommand({
  name: 'schedule trigger',
  summary: 'Fire a schedule now; its times stay as they are',
  details: 'Prints the id of the task or run that was made.',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice schedule trigger nightly-report'],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    // Not safe to repeat: each trigger makes another task.
    const call = api.postOnce<Fire>(`${pathOf(id)}/trigger`, ['firedAt', 'status'], {});
    const fire = await aboutSchedule(api, id, call);
    print(io, flags, fire, ({ taskId, runId }) => taskId ?? runId ?? '');
    return ExitCode.done;
  },
});

const deleteSchedule = defineCommand({
  name: 'schedule delete',
  summary: 'Delete a schedule; its replicas are stopped, what it made goes on',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice schedule delete nightly-report'],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    await aboutSchedule(api, id, api.delete(pathOf(id)));
    io.stderr(`deleted ${visible(id)}`);
    return ExitCode.done;
  },
});

const previewSchedule = defineCommand({
  name: 'schedule preview',
  summary: 'List the next times of a schedule, in its time zone and in UTC',
  args: ['ID'],
  flags: {
    count: { value: 'N', short: 'n', help: 'number of times, up to 100 (default 10)' },
    after: { value: 'TIME', help: 'times after this one (ISO 8601; default: now)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice schedule preview nightly-report --count 3 --after 2030-03-30T00:00:00Z'],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    const count = integerOf(flags.count, 'count')?.toString();
    const given = stated({ count, after: flags.after }) as Record<string, string>;
    const query = new URLSearchParams(given);
    const path = pathOf(id);
    const call = api.get<Preview>(`${path}/preview?${query}`, ['items']);
    const preview = await aboutSchedule(api, id, call);
    if (flags.json === true) print(io, flags, preview, () => '');
    else if (preview.items.length === 0) io.stderr(`${visible(id)} has no further times`);
    else {
      const { spec } = await api.get<Schedule>(path, ['spec']);
      const times = preview.items.map(({ at }) => at);
      io.stdout(timesText(times, spec));
    }
    return ExitCode.done;
  },
});

const explainSchedule = defineCommand({
  name: 'schedule explain',
  summary: 'Explain why a schedule has not fired, or when it will',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice schedule explain nightly-report'],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    const call = api.get<ScheduleExplanation>(`${pathOf(id)}/explain`, ['state', 'reasons']);
    const found = await aboutSchedule(api, id, call);
    print(io, flags, found, ({ state, reasons }) => {
      const lines = reasons.map(({ message }) => visible(message));
      return [`${visible(id)} is ${visible(state)}`, ...lines].join('\n');
    });
    return ExitCode.done;
  },
});

const listFires = defineCommand({
  name: 'schedule fires',
  summary: 'List what a schedule made and how that ended, newest first',
  args: ['ID'],
  flags: {
    limit: { value: 'N', short: 'n', help: 'maximum number of entries (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice schedule fires nightly-report --limit 10'],
  run: async ({ args: [id], flags }, io) => {
    const api = connect(flags, io);
    const limit = limitOf(flags.limit) ?? 50;
    const call = readList<Fire>(api, `${pathOf(id)}/fires`, { limit });
    const list = await aboutSchedule(api, id, call);
    const none = `no fires; 'sluice schedule explain ${visible(id)}' says why`;
    printList(io, flags, list, { none, table: fireTable });
    return ExitCode.done;
  },
});

export const scheduleCommands = defineGroup(
  'schedule',
  'Run tasks and workflows at certain times, or always',
  {
    put: putSchedule,
    apply: applySchedules,
    list: listSchedules,
    get: getSchedule,
    pause: pauseSchedule,
    resume: resumeSchedule,
    trigger: triggerSchedule,
    preview: previewSchedule,
    explain: explainSchedule,
    fires: listFires,
    backfill: backfillSchedule,
    delete: deleteSchedule,
  },
);
