import type { PutSchedule, Schedule } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { defineCommand } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { connect, print, SERVER_FLAGS } from '../commands/shared.ts';
import { unknownQueueAdvice } from '../commands/unknown-type.ts';
import { visible } from '../screen/visible.ts';
import { pathOf } from './one-schedule.ts';
import { readSchedule } from './schedule-files.ts';
import { namingFlags, SCHEDULE_FLAGS, type ScheduleFlags, scheduleOf } from './schedule-flags.ts';
import { certainTimes, timesText, whatText, whenText } from './schedule-text.ts';

export const putSchedule = defineCommand({
  name: 'schedule put',
  summary: 'Create or replace a schedule',
  details:
    'It submits a task or starts a run: at the times of --cron, --every or --at, or always with\n' +
    '--permanent. The flags describe all of it: what they leave out has its default. The same\n' +
    'command again changes nothing. Strings of the input may have {{scheduledAt}}, {{firedAt}},\n' +
    '{{scheduleId}} and {{fireNumber}}; so may the arguments of a command, which an agent runs.',
  args: ['ID', '[-- COMMAND...]'],
  flags: {
    ...SCHEDULE_FLAGS,
    file: { value: 'FILE', short: 'f', help: 'read the schedule from JSON or YAML instead' },
    'dry-run': { help: 'only check it, and show its next times' },
    ...SERVER_FLAGS,
  },
  examples: [
    "sluice schedule put nightly-report --cron '0 3 * * *' --time-zone Europe/Berlin --type report",
    `sluice schedule put poll --every 30s --type poll --input '{"at": "{{scheduledAt}}"}'`,
    'sluice schedule put reminder --at 2030-12-24T18:00:00+01:00 --workflow send-mail',
    'sluice schedule put consumer --permanent --replicas 3 --type consume',
    "sluice schedule put backup --cron '0 3 * * *' --memory 1g -- pg_dump -f /backup/db.sql mydb",
    'sluice schedule put nightly-report --file nightly-report.json --dry-run',
  ],
  run: async ({ args: [id, ...command], flags }, io) => {
    const { file, ...others } = flags;
    const schedule = (await (file === undefined
      ? scheduleOf(flags, command, io)
      : scheduleIn(file, id, {
          ...others,
          ...(command.length > 0 ? { command } : {}),
        }))) as Schedule;
    const api = connect(flags, io);
    const isDry = flags['dry-run'] === true;
    const path = `${pathOf(id)}?dryRun=${isDry}`;
    const call = api.put<PutSchedule>(path, ['change', 'nextFires'], schedule);
    const change = await (file === undefined ? namingFlags(call) : call);
    print(io, flags, change, (each) => changeText(each, schedule));
    if (flags.json !== true) await advise(api, io, schedule);
    return ExitCode.done;
  },
});

async function scheduleIn(
  file: string,
  id: string,
  flags: ScheduleFlags & { readonly command?: readonly string[] },
): Promise<object> {
  if (flags.command !== undefined) {
    throw new UsageError('--file and a command exclude each other: the file says everything');
  }
  const names = Object.keys(SCHEDULE_FLAGS) as (keyof ScheduleFlags)[];
  const other = names.find((name) => flags[name] !== undefined);
  if (other !== undefined) {
    throw new UsageError(`--file and --${other} exclude each other: the file says everything`);
  }
  const schedule = await readSchedule(file, id);
  if ('problem' in schedule) throw new UsageError(`${schedule.file}: ${schedule.problem}`);
  return schedule;
}

const DONE: Readonly<Record<string, string>> = {
  created: 'created',
  replaced: 'changed',
  unchanged: 'did not change',
};

const WOULD: Readonly<Record<string, string>> = {
  created: 'would create',
  replaced: 'would change',
  unchanged: 'would not change',
};

function changeText({ id, change, dryRun, nextFires }: PutSchedule, schedule: Schedule): string {
  const { spec } = schedule;
  const verb = (dryRun ? WOULD : DONE)[change] ?? change;
  const head = `${verb} ${visible(id)}: ${whatText(schedule)}, ${whenText(spec)}`;
  const times = certainTimes(nextFires, spec);
  return [
    head,
    ...(schedule.paused === true ? [`paused; 'sluice schedule resume ${id}' starts it`] : []),
    ...(times.length === 0 ? [] : ['', timesText(times, spec)]),
  ].join('\n');
}

/** A name that nobody knows yet may be wrong. */
async function advise(api: ApiCaller, io: CommandIo, { task, run }: Schedule): Promise<void> {
  const advice =
    task === undefined
      ? await unknownWorkflowAdvice(api, run?.workflow ?? '')
      : task.type && (await unknownQueueAdvice(api, task.type));
  if (advice !== undefined) io.stderr(advice);
}

/** Never fails: the schedule is stored, and the key may not be allowed to read. */
async function unknownWorkflowAdvice(api: ApiCaller, name: string): Promise<string | undefined> {
  try {
    await api.get<{ versions: unknown }>(`/v1/workflows/${encodeURIComponent(name)}`, ['versions']);
    return undefined;
  } catch (cause) {
    if (!(cause instanceof RefusedError) || cause.code !== 'workflow_not_found') return undefined;
    return (
      `sluice: the workflow '${visible(name)}' is not registered: ` +
      'until it is, times of the schedule are skipped'
    );
  }
}
