import type { Task } from '../api/answers.ts';
import { defineCommand } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { duration, table } from '../screen/table.ts';
import { connect, limitOf, print, readList, SERVER_FLAGS, tagsOf, widthOf } from './shared.ts';
import { type Spread, type UsageGroup, usageGroups } from './usage-groups.ts';

const TASKS_DEFAULT = 1000;

export const queueUsage = defineCommand({
  name: 'queue usage',
  summary: 'Show what tasks of a type used, beside what was reserved for them',
  details:
    'Looks at the newest tasks, and groups commands by their program. CPU is the average number\n' +
    'of cores over an attempt, MEMORY its peak in MiB: median, 95 of 100, and the most.\n' +
    'ADVICE says what would be enough; it needs 20 measured attempts.',
  args: ['TYPE'],
  flags: {
    tag: { value: 'NAME=VALUE', isMultiple: true, help: 'only tasks with this tag' },
    since: { value: 'TIME', help: 'only tasks submitted at this time (ISO 8601) or later' },
    limit: { value: 'N', help: `number of tasks to look at (default ${TASKS_DEFAULT})` },
    ...SERVER_FLAGS,
  },
  examples: ['sluice queue usage command', 'sluice queue usage command --tag team=video'],
  run: async ({ args: [type], flags }, io) => {
    const query = new URLSearchParams({ type });
    if (flags.since !== undefined) query.set('since', flags.since);
    for (const [name, value] of Object.entries(tagsOf(flags.tag) ?? {})) {
      query.append(`tag.${name}`, value);
    }
    const limit = limitOf(flags.limit) ?? TASKS_DEFAULT;
    const { items } = await readList<Task>(connect(flags, io), '/v1/tasks', { query, limit });
    const groups = usageGroups(items);
    if (groups.length === 0 && flags.json !== true) {
      const why = items.length === 0 ? 'there are none' : 'nobody measured them';
      io.stderr(`nothing is known of tasks of the type '${type}': ${why}`);
      return ExitCode.done;
    }
    print(io, flags, { type, tasks: items.length, groups }, () => usageTable(groups, widthOf(io)));
    return ExitCode.done;
  },
});

function usageTable(groups: readonly UsageGroup[], columns: number | undefined): string {
  const head = ['WHAT', 'ATTEMPTS', 'TOOK', 'CPU', 'RESERVED', 'MEMORY', 'RESERVED', 'ADVICE'];
  const rows = groups.map((group) => [
    group.what,
    group.attempts,
    spreadText(group.wallMs, duration),
    spreadText(group.cores, (cores) => cores.toFixed(2)),
    group.reserved.cpu ?? '-',
    spreadText(group.memoryMb, (memory) => memory.toFixed(0)),
    group.reserved.memoryMb ?? '-',
    group.advice ?? '-',
  ]);
  return table(head, rows, columns);
}

function spreadText(spread: Spread | null, text: (value: number) => string): string {
  return spread === null ? '-' : [spread.p50, spread.p95, spread.max].map(text).join(' ');
}
