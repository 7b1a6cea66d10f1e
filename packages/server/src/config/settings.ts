import { LIMITS } from '@sluice/protocol';
import { type Static, type TSchema, Type } from 'typebox';
import { memoryLimit } from './memory-limit.ts';

/**
 * A setting's attributes besides its type. `flag` overrides the name made from the path.
 * `defaultText` describes a default that depends on the machine. A `secret` is never printed.
 */
type NumberAbout = {
  readonly description: string;
  readonly default: number;
  readonly defaultText?: string;
  readonly minimum: number;
  readonly maximum: number;
};

/** An address without a password. */
const OPEN_STORE = /^postgres(?:ql)?:\/\/(?:[^:@/]+@)?(?!.*password=)[^@]*$/;

const MIB = 2 ** 20;
const HOUR_MS = 3_600_000;

function whole(about: NumberAbout) {
  return Type.Integer(about);
}

function group<T extends Record<string, TSchema>>(settings: T) {
  return Type.Object(settings, { additionalProperties: false });
}

const Limits = group({
  tasksMax: whole({
    description: 'Maximum number of tasks in memory, including finished ones',
    default: 10_000_000,
    minimum: 1,
    maximum: 50_000_000,
  }),
  payloadBytesMax: whole({
    description: 'Maximum bytes of inputs, outputs, errors, tags and the like in memory',
    default: Math.floor(memoryLimit() / 4),
    defaultText: 'a quarter of the memory of the machine or container',
    minimum: MIB,
    maximum: 2 ** 40,
  }),
  finishedTasksMax: whole({
    description: 'Maximum number of finished tasks in memory; the oldest are removed first',
    default: 1_000_000,
    minimum: 0,
    maximum: 50_000_000,
  }),
  deadLettersMax: whole({
    description: 'Maximum number of dead letters: tasks that failed or timed out for good',
    default: 100_000,
    minimum: 0,
    maximum: 50_000_000,
  }),
  callbacksMax: whole({
    description:
      'Maximum number of pending callbacks; beyond it submits with a callback are refused',
    default: 1_000_000,
    minimum: 1,
    maximum: 50_000_000,
  }),
  dedupeKeysMax: whole({
    description: 'Maximum number of dedupe keys',
    default: 10_000_000,
    minimum: 1,
    maximum: 50_000_000,
  }),
  sessionsMax: whole({
    description: 'Maximum number of worker sessions, including those that may still reconnect',
    default: 50_000,
    minimum: 1,
    maximum: 1_000_000,
  }),
});

/** A quota whose default leaves a tenth of its limit to other namespaces. */
function quota(description: string, limit: string) {
  return whole({
    description,
    default: 0,
    defaultText: `nine tenths of limits.${limit}`,
    minimum: 0,
    maximum: 2 ** 40,
  });
}

const Quotas = group({
  tasksMax: quota('Maximum number of open tasks and dead letters per namespace', 'tasksMax'),
  payloadBytesMax: quota(
    'Maximum bytes of inputs, outputs and errors of these tasks per namespace',
    'payloadBytesMax',
  ),
  dedupeKeysMax: quota('Maximum number of dedupe keys per namespace', 'dedupeKeysMax'),
  sessionsMax: quota('Maximum number of worker sessions per namespace', 'sessionsMax'),
  taskTypesMax: whole({
    description:
      'Maximum number of task types per namespace that have tasks, are paused, or are registered',
    default: 10_000,
    minimum: 1,
    maximum: 65_536,
  }),
  shapesMax: whole({
    description: 'Different resources and constraints that tasks of one namespace have',
    default: 2000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  schedulesMax: whole({
    description: 'Maximum number of schedules per namespace',
    default: 500_000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  runsMax: quota(
    'Maximum number of runs per namespace that have not ended, with those that other runs started',
    'tasksMax',
  ),
  waitsMax: whole({
    description: 'Maximum number of requests per namespace that wait for tasks',
    default: 9000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  blobBytesMax: whole({
    description: 'Maximum bytes of blobs per namespace',
    default: 100 * 1024 * MIB,
    minimum: MIB,
    maximum: 2 ** 50,
  }),
});

const Http = group({
  bodyBytesMax: whole({
    description: 'Maximum bytes of a request body; clients rely on the default',
    default: LIMITS.bodyBytesMax,
    minimum: 1024,
    maximum: LIMITS.bodyBytesMax,
  }),
  headerBytesMax: whole({
    description: 'Maximum bytes of the address and all headers of a request',
    default: 16_384,
    minimum: 1024,
    maximum: MIB,
  }),
  headersMax: whole({
    description: 'Maximum number of headers of a request',
    default: 100,
    minimum: 8,
    maximum: 2000,
  }),
  connectionsMax: whole({
    description:
      'Maximum number of open connections, or fewer if the system allows the process fewer files',
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  streamsPerConnectionMax: whole({
    description: 'Maximum number of concurrent requests on one HTTP/2 connection',
    default: 1000,
    minimum: 1,
    maximum: 100_000,
  }),
  headTimeoutMs: whole({
    description: 'Time for a client to send all headers of a request after its first byte',
    default: 10_000,
    minimum: 100,
    maximum: HOUR_MS,
  }),
  requestTimeoutMs: whole({
    description: 'Time for a client to send a whole request, including the body',
    default: 60_000,
    minimum: 100,
    maximum: HOUR_MS,
  }),
  idleTimeoutMs: whole({
    description: 'Time after which a connection without a request is closed',
    default: 65_000,
    minimum: 100,
    maximum: HOUR_MS,
  }),
  stalledReaderMs: whole({
    description: 'Time after which a stream is closed if its reader reads nothing',
    default: 30_000,
    minimum: 100,
    maximum: HOUR_MS,
  }),
});

const Placement = group({
  strategy: Type.Union([Type.Literal('spread'), Type.Literal('pack')], {
    description:
      'Which worker with room gets a task: `spread` loads all equally, `pack` fills one worker ' +
      'before it uses another',
    default: 'spread',
  }),
  reserveAfterMs: whole({
    description:
      'Time after which a waiting task gets room reserved, so that smaller ones do not overtake it',
    default: 10_000,
    minimum: 0,
    maximum: 24 * HOUR_MS,
  }),
  ageAfterMs: whole({
    description:
      'Time after which every 8th lease goes to the longest-waiting task, whatever its priority',
    default: 30_000,
    minimum: 0,
    maximum: 24 * HOUR_MS,
  }),
});

const Retention = group({
  days: whole({
    description: 'Days that finished tasks are kept for search; dead letters are kept longer',
    default: 7,
    minimum: 1,
    maximum: 36_500,
  }),
  bytesMax: whole({
    description:
      'Maximum bytes of finished tasks on disk; beyond it the oldest days are removed first',
    default: 20 * 1024 * MIB,
    minimum: MIB,
    maximum: 2 ** 50,
  }),
});

const Callbacks = group({
  allow: Type.Array(Type.String({ minLength: 1 }), {
    description:
      'Addresses, ranges such as 10.0.0.0/8, and host names that callbacks and HTTP steps may ' +
      'use although they are not public',
    default: [],
  }),
  secret: Type.String({
    description: 'Secret that signs callbacks without their own secret: whsec_ and base64',
    default: '',
    defaultText: 'none: these callbacks are not signed',
    secret: true,
  }),
  perHostMax: whole({
    description: 'Maximum number of concurrent callbacks to one host',
    default: 8,
    minimum: 1,
    maximum: 1000,
  }),
  concurrencyMax: whole({
    description: 'Maximum number of concurrent callbacks',
    default: 128,
    minimum: 1,
    maximum: 10_000,
  }),
  dnsServers: Type.Array(Type.String({ minLength: 1 }), {
    description: 'Addresses of the name servers that resolve hosts of callbacks and HTTP steps',
    default: [],
    defaultText: 'those of the system',
  }),
});

const Tls = group({
  certFile: Type.String({
    description: 'File with the certificate and its chain as PEM; read again when it changes',
    default: '',
    defaultText: 'none: no TLS',
  }),
  keyFile: Type.String({
    description: 'File with the private key of the certificate, as PEM',
    default: '',
    defaultText: 'none',
  }),
});

/**
 * Every setting of a server: its name, its allowed values, its default and its purpose. Validation,
 * flags, environment, help and documents are derived from it.
 */
export const Settings = group({
  host: Type.String({
    description: 'Address to listen on',
    default: '127.0.0.1',
    minLength: 1,
  }),
  port: whole({
    description: 'Port to listen on; 0 takes any free port',
    default: 7420,
    minimum: 0,
    maximum: 65_535,
  }),
  dataFolder: Type.String({
    description: 'Folder for all data of the server',
    default: '.sluice',
    flag: 'data',
    minLength: 1,
  }),
  store: Type.String({
    description:
      'PostgreSQL that holds all data, for servers on several machines: ' +
      '`postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME`. With a password it must come ' +
      'from a file or the environment. Empty: the data folder',
    default: '',
    defaultText: 'none',
    secret: true,
    openForm: OPEN_STORE,
  }),
  durability: Type.Union(
    [
      Type.Literal('auto'),
      Type.Literal('synchronous'),
      Type.Literal('storage'),
      Type.Literal('single'),
    ],
    {
      description:
        'What the loss of the database machine can take, for servers with a `store`. ' +
        '`synchronous`: nothing, and a database that waits for no replica is refused. ' +
        '`storage`: nothing, because the storage below the database is replicated. ' +
        '`single`: what was acknowledged last. `auto`: found out, with a warning',
      default: 'auto',
    },
  ),
  advertise: Type.String({
    description:
      'URL by which other servers of the same store reach this one. Empty: made from `host` and ' +
      '`port`',
    default: '',
    defaultText: 'none',
    pattern: '^(?:https?://.+)?$',
  }),
  allowedHosts: Type.Array(Type.String({ minLength: 1 }), {
    description: 'Names, without ports, that `Host` headers may have besides loopback and `host`',
    default: [],
  }),
  insecure: Type.Boolean({
    description:
      'Allow other machines to connect without TLS, so that keys and tasks are sent unencrypted',
    default: false,
  }),
  tls: Tls,
  logLevel: Type.Union(
    [Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')],
    { description: 'Least severe level that is logged on stderr', default: 'info' },
  ),
  drainMs: whole({
    description: 'Time for running requests to finish when the server stops',
    default: 10_000,
    minimum: 0,
    maximum: HOUR_MS,
  }),
  acceptClockJumps: Type.Boolean({
    description:
      'Follow a wall clock that jumps ahead by more than an hour; otherwise the next start does',
    default: false,
  }),
  snapshotEveryBytes: whole({
    description: 'Bytes of log after which a snapshot is made and the log is trimmed',
    default: 256 * MIB,
    minimum: MIB,
    maximum: 2 ** 40,
  }),
  maxMemory: whole({
    description: 'Maximum bytes of memory of the process; above it submits are refused',
    default: Math.floor(memoryLimit() * 0.8),
    defaultText: 'four fifths of the memory of the machine or container',
    minimum: 64 * MIB,
    maximum: 2 ** 50,
  }),
  retention: Retention,
  callbacks: Callbacks,
  limits: Limits,
  quotas: Quotas,
  http: Http,
  placement: Placement,
});

export type Configuration = Static<typeof Settings>;
