import { LIMITS } from '@sluice/protocol';
import { type Static, type TSchema, Type } from 'typebox';
import { memoryLimit } from './memory-limit.ts';

/**
 * What a setting says of itself beside its type. `flag` stands where its name is not made from the
 * path, `defaultText` where the default depends on the machine; a `secret` is never printed.
 */
type NumberAbout = {
  readonly description: string;
  readonly default: number;
  readonly defaultText?: string;
  readonly minimum: number;
  readonly maximum: number;
};

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
    description: 'Tasks in memory at once, finished ones included',
    default: 10_000_000,
    minimum: 1,
    maximum: 50_000_000,
  }),
  payloadBytesMax: whole({
    description: 'Bytes of inputs, outputs, errors, tags and the like in memory at once',
    default: Math.floor(memoryLimit() / 4),
    defaultText: 'a quarter of the memory that the machine or its container allows',
    minimum: MIB,
    maximum: 2 ** 40,
  }),
  finishedTasksMax: whole({
    description: 'Finished tasks that are kept for reading; the oldest are forgotten first',
    default: 1_000_000,
    minimum: 0,
    maximum: 50_000_000,
  }),
  deadLettersMax: whole({
    description: 'Failed and timed-out tasks that are kept until somebody deals with them',
    default: 100_000,
    minimum: 0,
    maximum: 50_000_000,
  }),
  callbacksMax: whole({
    description: 'Callbacks to be delivered at once; submits that want one are refused beyond it',
    default: 1_000_000,
    minimum: 1,
    maximum: 50_000_000,
  }),
  dedupeKeysMax: whole({
    description: 'Dedupe keys that are remembered at once',
    default: 10_000_000,
    minimum: 1,
    maximum: 50_000_000,
  }),
  sessionsMax: whole({
    description: 'Worker sessions at once, those that are expected back included',
    default: 50_000,
    minimum: 1,
    maximum: 1_000_000,
  }),
});

/** A quota that leaves others a tenth of the limit it belongs to, unless it is set. */
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
  tasksMax: quota('Tasks of one namespace that have not ended, and its dead letters', 'tasksMax'),
  payloadBytesMax: quota('Bytes of their inputs, outputs and errors', 'payloadBytesMax'),
  dedupeKeysMax: quota('Dedupe keys of one namespace', 'dedupeKeysMax'),
  sessionsMax: quota('Worker sessions of one namespace', 'sessionsMax'),
  taskTypesMax: whole({
    description: 'Task types of one namespace that have tasks, are paused, or are registered',
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
  waitsMax: whole({
    description: 'Requests of one namespace that wait for tasks to end',
    default: 9000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  blobBytesMax: whole({
    description: 'Bytes of blobs of one namespace',
    default: 100 * 1024 * MIB,
    minimum: MIB,
    maximum: 2 ** 50,
  }),
});

const Http = group({
  bodyBytesMax: whole({
    description: 'Bytes of a request body; clients count on the default',
    default: LIMITS.bodyBytesMax,
    minimum: 1024,
    maximum: LIMITS.bodyBytesMax,
  }),
  headerBytesMax: whole({
    description: 'Bytes of the head of a request: its address and all its headers',
    default: 16_384,
    minimum: 1024,
    maximum: MIB,
  }),
  headersMax: whole({
    description: 'Headers of a request',
    default: 100,
    minimum: 8,
    maximum: 2000,
  }),
  connectionsMax: whole({
    description:
      'Connections at once; fewer if the system gives the process fewer files. ' +
      'Further ones are refused',
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  streamsPerConnectionMax: whole({
    description: 'Requests at once on one HTTP/2 connection',
    default: 1000,
    minimum: 1,
    maximum: 100_000,
  }),
  headTimeoutMs: whole({
    description: 'Time that a client has to send the head of a request once it has begun',
    default: 10_000,
    minimum: 100,
    maximum: HOUR_MS,
  }),
  requestTimeoutMs: whole({
    description: 'Time that a client has to send a whole request, the body included',
    default: 60_000,
    minimum: 100,
    maximum: HOUR_MS,
  }),
  idleTimeoutMs: whole({
    description: 'A connection without a request is closed after this time',
    default: 65_000,
    minimum: 100,
    maximum: HOUR_MS,
  }),
  stalledReaderMs: whole({
    description: 'A worker stream whose reader takes nothing for so long is cut',
    default: 30_000,
    minimum: 100,
    maximum: HOUR_MS,
  }),
});

const Placement = group({
  strategy: Type.Union([Type.Literal('spread'), Type.Literal('pack')], {
    description:
      'Which of the workers with room gets a task: `spread` burdens all alike, `pack` fills one ' +
      'before it begins another',
    default: 'spread',
  }),
  reserveAfterMs: whole({
    description: 'A task that waited this long has room kept for it rather than being overtaken',
    default: 10_000,
    minimum: 0,
    maximum: 24 * HOUR_MS,
  }),
  ageAfterMs: whole({
    description: 'The priority of a task that waited this long does not count in every 8th lease',
    default: 30_000,
    minimum: 0,
    maximum: 24 * HOUR_MS,
  }),
});

const Retention = group({
  days: whole({
    description: 'Finished tasks are kept for search for so many days; dead letters until the end',
    default: 7,
    minimum: 1,
    maximum: 36_500,
  }),
  bytesMax: whole({
    description: 'Bytes of finished tasks on disk; beyond that the oldest days go first',
    default: 20 * 1024 * MIB,
    minimum: MIB,
    maximum: 2 ** 50,
  }),
});

const Callbacks = group({
  allow: Type.Array(Type.String({ minLength: 1 }), {
    description:
      'Addresses, ranges such as 10.0.0.0/8, and names of hosts that may be called back although ' +
      'they are not public',
    default: [],
  }),
  secret: Type.String({
    description: 'Signs callbacks that have no secret of their own: whsec_ and base64',
    default: '',
    defaultText: 'none, and such callbacks are not signed',
    secret: true,
  }),
  perHostMax: whole({
    description: 'Callbacks under way to one host at once',
    default: 8,
    minimum: 1,
    maximum: 1000,
  }),
  concurrencyMax: whole({
    description: 'Callbacks under way at once',
    default: 128,
    minimum: 1,
    maximum: 10_000,
  }),
  dnsServers: Type.Array(Type.String({ minLength: 1 }), {
    description: 'Addresses of name servers that are asked for hosts of callbacks',
    default: [],
    defaultText: 'those of the system',
  }),
});

const Tls = group({
  certFile: Type.String({
    description:
      'File with the certificate, and those behind it, as PEM; read again when it changes',
    default: '',
    defaultText: 'none, and no TLS',
  }),
  keyFile: Type.String({
    description: 'File with the private key of the certificate, as PEM',
    default: '',
    defaultText: 'none',
  }),
});

/**
 * Every setting of a server, in one place: what it is called, what it may be, what it is by
 * default and what it is for. Validation, flags, environment, help and documents are made from it.
 */
export const Settings = group({
  host: Type.String({
    description: 'Address to listen on',
    default: '127.0.0.1',
    minLength: 1,
  }),
  port: whole({
    description: 'Port to listen on; 0 takes any free one',
    default: 7420,
    minimum: 0,
    maximum: 65_535,
  }),
  dataFolder: Type.String({
    description: 'Folder that holds everything that must survive',
    default: '.sluice',
    flag: 'data',
    minLength: 1,
  }),
  allowedHosts: Type.Array(Type.String({ minLength: 1 }), {
    description: 'Names, without ports, that `Host` headers may have beside loopback and `host`',
    default: [],
  }),
  insecure: Type.Boolean({
    description:
      'Allow to listen beyond this machine without TLS: keys and tasks can be read on their way',
    default: false,
  }),
  tls: Tls,
  logLevel: Type.Union(
    [Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')],
    { description: 'What is worth a line on stderr', default: 'info' },
  ),
  drainMs: whole({
    description: 'Time that requests under way have to finish when the server is told to stop',
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
    description: 'Bytes of log after which the next snapshot is made and the log trimmed',
    default: 256 * MIB,
    minimum: MIB,
    maximum: 2 ** 40,
  }),
  maxMemory: whole({
    description: 'Bytes of memory of the whole process; above it submits are refused',
    default: Math.floor(memoryLimit() * 0.8),
    defaultText: 'four fifths of the memory that the machine or its container allows',
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

/** From the chattiest on. */
export const LOG_LEVELS: readonly Configuration['logLevel'][] = ['debug', 'info', 'warn', 'error'];
