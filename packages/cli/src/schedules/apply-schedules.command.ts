import { LIMITS } from '@sluice/protocol/limits';
import type { PutSchedule, Schedule } from '../api/answers.ts';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { defineCommand } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import type { UnreadableFile } from '../commands/definition-files.ts';
import { connect, print, readList, SERVER_FLAGS, tagsOf } from '../commands/shared.ts';
import { table } from '../screen/table.ts';
import { pathOf } from './one-schedule.ts';
import { type ChangeItem, changeInBatches } from './schedule-batches.ts';
import { readSchedules, type ScheduleFile } from './schedule-files.ts';
import { whatText, whenText } from './schedule-text.ts';

/** What becomes of one schedule. */
interface Planned {
  readonly id: string;
  readonly change: 'new' | 'changed' | 'unchanged' | 'deleted' | 'refused';
  /** Null for one that is in no file. */
  readonly file: string | null;
  readonly problem?: string;
  readonly schedule?: object;
}

/** Checks that are under way at the same time. */
const CHECKS_MAX = 16;

export const applySchedules = defineCommand({
  name: 'schedule apply',
  summary: 'Create and change the schedules in files and folders',
  details:
    'Takes JSON and YAML files, and folders of them. A file holds one schedule\n' +
    '{id, spec, task or run, …}, a list of them, or {schedules: […]}.\n' +
    'The plan says of each what it is: new, changed, unchanged or refused. Nothing is changed\n' +
    'when one is refused, or with --dry-run. A file says everything about its schedules: one\n' +
    'that was paused by hand goes on, unless its file has paused: true.',
  args: ['PATH...'],
  flags: {
    'dry-run': { help: 'only show the plan; exit code 1 when something would be refused' },
    'delete-missing': { help: 'delete schedules of the namespace that are in no file' },
    tag: {
      value: 'NAME=VALUE',
      isMultiple: true,
      help: 'with --delete-missing: delete only those with this tag',
    },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice schedule apply schedules/ --dry-run',
    'sluice schedule apply schedules/',
    'sluice schedule apply schedules/ --delete-missing --tag team=data',
  ],
  run: async ({ args: paths, flags }, io) => {
    const tags = tagsOf(flags.tag);
    const isDeleting = flags['delete-missing'] === true;
    if (tags !== undefined && !isDeleting) throw new UsageError('--tag needs --delete-missing');
    const api = connect(flags, io);
    const found = await readSchedules(paths);
    const checked = await checkAll(api, found);
    const plan = isDeleting ? [...checked, ...(await missing(api, checked, tags))] : checked;
    const isRefused = plan.some(({ change }) => change === 'refused');
    const isDry = flags['dry-run'] === true || isRefused;
    const applied = isDry ? plan : await applyAll(api, plan);
    const items = applied.map(({ schedule: _, ...item }) => item);
    print(io, flags, { dryRun: isDry, items }, () => planText(applied));
    for (const { file, id, problem } of applied) {
      const name = id === '' ? (file ?? '') : `${file ?? 'the server'}: ${id}`;
      if (problem !== undefined) io.stderr(`${name}: ${problem}`);
    }
    if (isRefused) io.stderr('nothing was changed');
    if (flags.json !== true) io.stderr(countText(applied, isDry));
    return applied.some(({ change }) => change === 'refused') ? ExitCode.refused : ExitCode.done;
  },
});

/** Asks the server about each, some at a time; the order stays. */
async function checkAll(
  api: ApiCaller,
  found: readonly (ScheduleFile | UnreadableFile)[],
): Promise<Planned[]> {
  const planned: Planned[] = [];
  let next = 0;
  const check = async (): Promise<void> => {
    while (next < found.length) {
      const place = next++;
      planned[place] = await checkOne(api, found[place]);
    }
  };
  await Promise.all(Array.from({ length: CHECKS_MAX }, check));
  return planned;
}

const WORDS = { created: 'new', replaced: 'changed', unchanged: 'unchanged' } as const;

async function checkOne(api: ApiCaller, found: ScheduleFile | UnreadableFile): Promise<Planned> {
  const { file } = found;
  if ('problem' in found) {
    return { id: found.id ?? '', change: 'refused', file, problem: found.problem };
  }
  const { id, schedule } = found;
  try {
    const path = `${pathOf(id)}?dryRun=true`;
    const { change } = await api.put<PutSchedule>(path, ['change'], schedule);
    return { id, change: wordOf(change), file, schedule };
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    return { id, change: 'refused', file, problem: cause.message };
  }
}

function wordOf(change: string): Planned['change'] {
  return (WORDS as Readonly<Record<string, Planned['change']>>)[change] ?? 'changed';
}

/** Schedules that are in no file. */
async function missing(
  api: ApiCaller,
  planned: readonly Planned[],
  tags: Readonly<Record<string, string>> = {},
): Promise<Planned[]> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(tags)) query.append(`tag.${name}`, value);
  const { items } = await readList<Schedule>(api, '/v1/schedules', { query });
  const kept = new Set(planned.map(({ id }) => id));
  return items
    .filter(({ id }) => !kept.has(id))
    .map((schedule) => ({ id: schedule.id, change: 'deleted', file: null, schedule }));
}

async function applyAll(api: ApiCaller, plan: readonly Planned[]): Promise<Planned[]> {
  const items = plan.map(({ id, change, schedule }): ChangeItem => {
    return change === 'deleted' ? { op: 'delete', id } : { op: 'put', id, ...schedule };
  });
  const results = await changeInBatches(api, items, LIMITS.batchSchedulesMax);
  return plan.map((planned, place): Planned => {
    const { change, problem } = results[place];
    if (problem !== undefined) return { ...planned, change: 'refused', problem };
    return planned.change === 'deleted' ? planned : { ...planned, change: wordOf(change) };
  });
}

function planText(plan: readonly Planned[]): string {
  return table(
    ['SCHEDULE', 'CHANGE', 'WHEN', 'WHAT', 'FILE'],
    plan.map(({ id, change, file, schedule }) => {
      const known = schedule as Schedule | undefined;
      return [
        id === '' ? '-' : id,
        change,
        known === undefined ? '-' : whenText(known.spec),
        known === undefined ? '-' : whatText(known),
        file ?? '-',
      ];
    }),
  );
}

function countText(plan: readonly Planned[], isDry: boolean): string {
  const counts = new Map<string, number>();
  for (const { change } of plan) counts.set(change, (counts.get(change) ?? 0) + 1);
  const texts = [...counts].map(([change, count]) => `${count} ${change}`);
  return `${isDry ? 'plan: ' : ''}${texts.join(', ')}`;
}
