import { resolve } from 'node:path';
import type { AccessKey, NewAccessKey } from '../api/answers.ts';
import { defineCommand, defineGroup } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import {
  connect,
  durationOf,
  print,
  printList,
  readList,
  SERVER_FLAGS,
  type ServerFlags,
  stated,
} from '../commands/shared.ts';
import { ago, table } from '../screen/table.ts';
import { addressOfStore, STORE_FLAGS, type StoreFlags } from './store-flags.ts';

const createKey = defineCommand({
  name: 'key create',
  summary: 'Create a key and print it; it is shown only once',
  details:
    'The first key must be an admin key. From then on every call needs a key; the command line\n' +
    'reads it from SLUICE_API_KEY. A server that other machines can reach does not start\n' +
    'without keys. Create its first key with --data in its data folder, while the server is\n' +
    'stopped, as the user that the server runs as.',
  flags: {
    role: {
      value: 'ROLE',
      isMultiple: true,
      help: 'viewer, submitter, worker, operator or admin; can be repeated',
    },
    namespace: { value: 'NAME', help: 'namespace of the key (default: that of your key)' },
    name: { value: 'TEXT', help: 'name of the key, such as its owner' },
    expires: { value: 'TIME', help: 'time until it expires, such as 90d (default: never)' },
    replaces: { value: 'ID', help: 'old key; the new one gets its roles, namespace and name' },
    overlap: { value: 'TIME', help: 'time that the old key still works (default 1d)' },
    data: { value: 'DIR', help: 'create it in the data folder of a stopped server' },
    'in-store': { help: 'create it in the PostgreSQL of stopped servers (see --store)' },
    ...STORE_FLAGS,
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice key create --role worker --role submitter --name "the render farm" --expires 90d',
    'sluice key create --role admin --data /var/lib/sluice',
    'sluice key create --replaces k_019a8b0c6d2f1a2b3c4d --overlap 1h',
  ],
  run: async ({ flags }, io) => {
    const { role, namespace, name, replaces } = flags;
    if (role === undefined && replaces === undefined) {
      throw new UsageError("'sluice key create' needs --role, or --replaces");
    }
    refuseText(replaces);
    const request = stated({
      roles: role,
      namespace,
      name,
      replaces,
      overlapMs: durationOf(flags.overlap, 'overlap'),
      expiresInMs: durationOf(flags.expires, 'expires'),
    });
    const made = await createAt(flags, request, io);
    if (made === undefined) return ExitCode.refused;
    print(io, flags, made, ({ key }) => key);
    if (flags.json !== true) {
      io.stderr(
        `${made.id}, ${made.roles.join(', ')} of ${made.namespace}; it is shown only this once`,
      );
    }
    return ExitCode.done;
  },
});

/** A key on the command line appears in the process list and in the shell history. */
function refuseText(id: string | undefined): void {
  if (id?.includes('slk_') !== true) return;
  throw new UsageError('pass the id of the key, which begins with k_, never the key itself');
}

interface PlaceFlags extends StoreFlags, ServerFlags {
  readonly data?: string;
  readonly 'in-store'?: boolean;
}

function createAt(
  flags: PlaceFlags,
  request: object,
  io: CommandIo,
): Promise<NewAccessKey | undefined> {
  if (flags.data !== undefined) return createInFolder(flags.data, request, io);
  const isInStore = flags['in-store'] ?? flags.store ?? flags['store-file'];
  if (isInStore !== undefined) return createInStore(addressOfStore(flags, io), request, io);
  return connect(flags, io).postOnce<NewAccessKey>('/v1/keys', ['id', 'key'], request);
}

async function createInStore(
  text: string,
  request: object,
  io: CommandIo,
): Promise<NewAccessKey | undefined> {
  const { EMBEDDED_PARTITION, loadConfig } = await import('@sluice/server');
  const { createKeyInStore, parseStoreAddress } = await import('@sluice/server/cluster');
  const { config } = loadConfig({ flags: {}, env: io.env });
  try {
    const address = parseStoreAddress(text);
    const store = { ...config, address, partition: EMBEDDED_PARTITION };
    return (await createKeyInStore(store, request)) as NewAccessKey;
  } catch (cause) {
    io.stderr(`sluice: cannot create a key in the store: ${(cause as Error).message}`);
    return undefined;
  }
}

async function createInFolder(
  data: string,
  request: object,
  io: CommandIo,
): Promise<NewAccessKey | undefined> {
  // Loaded on demand: loading the server takes longer than most commands.
  const { createKeyIn, EMBEDDED_PARTITION, loadConfig } = await import('@sluice/server');
  const { config } = loadConfig({ flags: {}, env: io.env });
  const dataFolder = resolve(data);
  try {
    return (await createKeyIn(
      { ...config, dataFolder, partition: EMBEDDED_PARTITION },
      request,
    )) as NewAccessKey;
  } catch (cause) {
    io.stderr(`sluice: cannot create a key in ${dataFolder}: ${(cause as Error).message}`);
    return undefined;
  }
}

const listKeys = defineCommand({
  name: 'key list',
  summary: 'List the keys, without their secret text',
  flags: SERVER_FLAGS,
  examples: ['sluice key list'],
  run: async ({ flags }, io) => {
    const list = await readList<AccessKey>(connect(flags, io), '/v1/keys');
    const none = 'no keys: the server accepts every call';
    printList(io, flags, list, { none, table: keyTable });
    return ExitCode.done;
  },
});

function keyTable(keys: readonly AccessKey[], columns: number | undefined): string {
  const now = Date.now();
  return table(
    ['ID', 'ROLES', 'NAMESPACE', 'NAME', 'CREATED', 'USED', 'EXPIRES'],
    keys.map(({ id, roles, namespace, name, createdAt, lastUsedAt, expiresAt, expired }) => [
      id,
      roles.join(', '),
      namespace,
      name,
      `${ago(createdAt, now)} ago`,
      lastUsedAt === null ? '-' : `${ago(lastUsedAt, now)} ago`,
      expired ? 'expired' : (expiresAt ?? '-'),
    ]),
    columns,
  );
}

const revokeKey = defineCommand({
  name: 'key revoke',
  summary: 'Revoke a key immediately',
  args: ['ID'],
  flags: SERVER_FLAGS,
  examples: ['sluice key revoke k_019a8b0c6d2f1a2b3c4d'],
  run: async ({ args: [id], flags }, io) => {
    refuseText(id);
    await connect(flags, io).delete(`/v1/keys/${encodeURIComponent(id)}`);
    print(io, flags, { id, revoked: true }, () => `revoked ${id}`);
    return ExitCode.done;
  },
});

export const keyCommands = defineGroup('key', 'Create, list and revoke keys', {
  create: createKey,
  list: listKeys,
  revoke: revokeKey,
});
