import type { AuditRecord } from '../api/access-shapes.ts';
import type { Page } from '../api/task-shapes.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import { table } from '../screen/table.ts';
import { connect, integerOf, print, SERVER_FLAGS } from './shared.ts';

const listAudit = defineCommand({
  name: 'audit list',
  summary: 'List who changed what that concerns others, newest first',
  flags: {
    limit: { value: 'N', short: 'n', help: 'at most so many (default 50, up to 1000)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice audit list', 'sluice audit list --limit 1000 --json'],
  run: async ({ flags }, io) => {
    const limit = integerOf(flags.limit, 'limit');
    const query = limit === undefined ? '' : `?limit=${limit}`;
    const page = await connect(flags, io).get<Page<AuditRecord>>(`/v1/audit${query}`, ['items']);
    if (page.items.length === 0 && flags.json !== true) io.stderr('no records');
    else print(io, flags, page, ({ items }) => auditTable(items));
    if (page.nextCursor !== null) io.stderr('there are more; see --limit');
    return ExitCode.done;
  },
});

function auditTable(records: readonly AuditRecord[]): string {
  return table(
    ['AT', 'WHO', 'FROM', 'NAMESPACE', 'ACTION', 'WHAT', ''],
    records.map(({ at, actor, address, namespace, action, subject, detail }) => [
      at,
      actor,
      address,
      namespace,
      action,
      subject,
      detail,
    ]),
  );
}

export const auditCommands = defineGroup('audit', 'Look at who changed what', { list: listAudit });
