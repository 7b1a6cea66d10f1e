import type { AuditRecord } from '../api/answers.ts';

import { defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { connect, limitOf, printList, readList, SERVER_FLAGS } from '../commands/shared.ts';
import { table } from '../screen/table.ts';

const listAudit = defineCommand({
  name: 'audit list',
  summary: 'List audit records: who changed what, newest first',
  flags: {
    limit: { value: 'N', short: 'n', help: 'maximum number of entries (default 50)' },
    ...SERVER_FLAGS,
  },
  examples: ['sluice audit list', 'sluice audit list --limit 1000 --json'],
  run: async ({ flags }, io) => {
    const limit = limitOf(flags.limit) ?? 50;
    const list = await readList<AuditRecord>(connect(flags, io), '/v1/audit', { limit });
    printList(io, flags, list, { none: 'no records', table: auditTable });
    return ExitCode.done;
  },
});

function auditTable(records: readonly AuditRecord[], columns: number | undefined): string {
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
    columns,
  );
}

export const auditCommands = defineGroup('audit', 'List who changed what', { list: listAudit });
