import type { StoreStatus } from '@sluice/server/cluster';
import { defineCommand, defineGroup } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { table } from '../screen/table.ts';
import { addressOfStore, STORE_FLAGS, type StoreFlags } from './store-flags.ts';

const init = defineCommand({
  name: 'cluster init',
  summary: 'Make the tables of a cluster in a PostgreSQL database',
  details:
    'Does nothing when they are there already. The database user needs CREATE on the database.',
  flags: STORE_FLAGS,
  examples: ['SLUICE_STORE=postgres://sluice:secret@db/work sluice cluster init'],
  run: ({ flags }, io) =>
    withStore(flags, io, async (address, { initStoreAt }) => {
      const isNew = await initStoreAt(address);
      io.stdout(`${isNew ? 'made' : 'there already'}: ${address.shown}`);
    }),
});

const status = defineCommand({
  name: 'cluster status',
  summary: 'Show the servers of a cluster, the owner, and the database behind them',
  flags: { ...STORE_FLAGS, json: { help: 'print JSON' } },
  examples: ['sluice cluster status --store postgres://sluice@db/work'],
  run: ({ flags }, io) =>
    withStore(flags, io, async (address, { storeStatus }) => {
      const found = await storeStatus(address);
      io.stdout(flags.json === true ? JSON.stringify(found) : statusText(address.shown, found));
    }),
});

const handOff = defineCommand({
  name: 'cluster hand-off',
  summary: 'Let another server take over from the owner',
  details:
    'Use it before work on the machine of the owner. A server that is stopped does it itself.',
  flags: STORE_FLAGS,
  examples: ['sluice cluster hand-off --store postgres://sluice@db/work'],
  run: ({ flags }, io) =>
    withStore(flags, io, async (address, { askHandOff }) => {
      if (!(await askHandOff(address))) throw new Error('no server owns the partition now');
      io.stdout('asked the owner to hand over');
    }),
});

const raiseLevel = defineCommand({
  name: 'cluster raise-level',
  summary: 'Let the servers write what only their newest version can read',
  details:
    'Do it some time after an upgrade, when you are sure that you will not go back: servers of\n' +
    'the version before can no longer join. Refused while such a server runs.',
  flags: STORE_FLAGS,
  examples: ['sluice cluster raise-level --store postgres://sluice@db/work'],
  run: ({ flags }, io) =>
    withStore(flags, io, async (address, module) => {
      const { before, now, servers } = await module.raiseLevel(address);
      if (now > before) return io.stdout(`raised from level ${before} to ${now}`);
      io.stdout(`the level stays ${now}: ${whyUnraised(servers, now)}`);
    }),
});

function whyUnraised(servers: StoreStatus['servers'], level: number): string {
  if (servers.length === 0) return 'no server is running, so there is no newer level to raise to';
  const isNewerKnown = servers.some((server) => server.level > level);
  if (!isNewerKnown) return 'no server knows a newer one';
  const older = servers.filter((server) => server.level === level);
  const names = older.map(({ address, seenMsAgo }) => {
    return `${address} (seen ${(seenMsAgo / 1000).toFixed(0)} s ago)`;
  });
  return `${names.join(', ')} does not support a newer level; stop it (a server that is gone is dropped after ten minutes)`;
}

const acceptLoss = defineCommand({
  name: 'cluster accept-loss',
  summary: 'Go on after the database went back in time, without what it lost',
  details:
    'Servers that notice it halt. Restore what is missing if you can. Otherwise this command\n' +
    'lets them go on: tasks that ran are queued again, and leases of the lost time count no\n' +
    'more.',
  flags: STORE_FLAGS,
  examples: ['sluice cluster accept-loss --store postgres://sluice@db/work'],
  run: ({ flags }, io) =>
    withStore(flags, io, async (address, module) => {
      const { EMBEDDED_PARTITION: partition, loadConfig } = await import('@sluice/server');
      const { config } = loadConfig({ flags: {}, env: io.env });
      const { returned, tasks } = await module.acceptLoss({ ...config, address, partition });
      io.stdout(`accepted: ${tasks} tasks are there, ${returned} of them are queued again`);
    }),
});

type ClusterModule = typeof import('@sluice/server/cluster');
type Address = ReturnType<ClusterModule['parseStoreAddress']>;

async function withStore(
  flags: StoreFlags,
  io: CommandIo,
  use: (address: Address, module: ClusterModule) => Promise<void>,
): Promise<ExitCode> {
  const text = addressOfStore(flags, io);
  // Loaded on demand: loading the server takes longer than most commands.
  const module = await import('@sluice/server/cluster');
  try {
    await use(module.parseStoreAddress(text), module);
    return ExitCode.done;
  } catch (cause) {
    if (cause instanceof module.StoreAddressError) throw new UsageError(cause.message, { cause });
    io.stderr(`sluice: ${(cause as Error).message}`);
    return ExitCode.refused;
  }
}

function statusText(place: string, status: StoreStatus): string {
  const { hold, servers, tail, bytes, durability, problems } = status;
  const { version, kind, synchronousStandbys } = durability;
  const replicas =
    kind === 'single'
      ? 'no synchronous replica: a lost database machine loses what it has not replicated'
      : `synchronous replicas: ${synchronousStandbys}`;
  const lines = [
    place,
    `PostgreSQL ${version}, ${(bytes / 2 ** 20).toFixed(1)} MiB, ${tail} records; ${replicas}`,
    levelText(status),
    '',
    servers.length === 0 ? 'no servers' : serverTable(status),
  ];
  if (!servers.some(({ runId }) => isOwner(hold, runId)))
    lines.push('', 'no server owns the partition now');
  const from = status.unfinishedImport;
  if (from !== undefined) lines.push('', `the import of ${from} is running or has failed`);
  if (problems.length > 0) lines.push('', ...problems.map((problem) => `PROBLEM: ${problem}`));
  return lines.join('\n');
}

function isOwner(hold: StoreStatus['hold'], runId: string): boolean {
  return runId === hold.runId && !hold.isExpired;
}

function levelText({ hold: { level }, servers }: StoreStatus): string {
  const known = Math.min(...servers.map((server) => server.level));
  const isRaisable = servers.length > 0 && known > level;
  const hint = isRaisable ? `; all servers know ${known} ('sluice cluster raise-level')` : '';
  return `level ${level}${hint}`;
}

function serverTable({ servers, hold, tail }: StoreStatus): string {
  return table(
    ['SERVER', 'ROLE', 'BEHIND', 'SEEN', 'VERSION', 'RUN'],
    servers.map(({ address, runId, position, seenMsAgo, version, halted }) => [
      address,
      halted !== undefined ? 'halted' : isOwner(hold, runId) ? 'owner' : 'standby',
      `${Math.max(0, tail - position)} records`,
      `${(seenMsAgo / 1000).toFixed(1)} s ago`,
      version,
      runId.slice(0, 8),
    ]),
  );
}

export const clusterCommands = defineGroup('cluster', 'Servers that share a PostgreSQL database', {
  init,
  status,
  'hand-off': handOff,
  'raise-level': raiseLevel,
  'accept-loss': acceptLoss,
});
