import type { RecordBackup } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { BYTES, ROUTES, SluiceError } from '@sluice/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authorOf } from '../access/caller.ts';
import type { KeyStreams } from '../access/key-streams.ts';
import { timeText } from '../base/time-text.ts';
import { PacedAnswer } from '../http/paced-answer.ts';
import { routeOptions } from '../http/route-options.ts';
import { type Admission, overloaded } from '../limits/admission.ts';
import { type BackupOrder, sendBackup } from './send-backup.ts';

interface Parts extends Omit<BackupOrder, 'startedAt'> {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly keyStreams: KeyStreams;
  readonly clock: () => number;
  readonly stalledMs: number;
}

/** `GET /v1/backup`: one at a time, because each prevents the log from being trimmed. */
export function backupRoute(app: FastifyInstance, parts: Parts): void {
  let underWay: PacedAnswer | 'beginning' | undefined;
  app.addHook('preClose', async () => {
    if (underWay instanceof PacedAnswer) underWay.cut();
  });

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { keyStreams, stalledMs, clock } = parts;
    await record(parts, request);
    const startedAt = timeText(clock());
    const pace = { contentType: BYTES, stalledMs };
    const answer = new PacedAnswer(reply.hijack().raw, pace);
    underWay = answer;
    keyStreams.add(request.caller, reply.raw);
    await sendBackup(answer, { ...parts, startedAt });
    answer.end();
  }

  app.route({
    ...routeOptions(ROUTES.takeBackup),
    handler: async (request, reply) => {
      // A HEAD request gets no backup, and leaves no record of one.
      if (request.method === 'HEAD') return reply.type(BYTES).send();
      if (underWay !== undefined) throw overloaded('another backup is running');
      underWay = 'beginning';
      try {
        await send(request, reply);
      } finally {
        underWay = undefined;
      }
      return reply;
    },
  });
}

/** A database has its own backups, and copies of it from here would be slower and less complete. */
export function noBackupRoute(app: FastifyInstance): void {
  app.route({
    ...routeOptions(ROUTES.takeBackup),
    handler: async () => {
      throw new SluiceError(
        'backup_not_here',
        'the data of this server is in PostgreSQL; back up the database with its own tools',
      );
    },
  });
}

/** Durable before the first byte is sent, so the backup contains its own record. */
async function record({ admission, engine }: Parts, request: FastifyRequest): Promise<void> {
  const type = 'record_backup';
  admission.command(type);
  const { namespace } = request.caller;
  const command = { type, namespace, by: authorOf(request, 'server') } as const;
  await engine.execute<RecordBackup, void>(command, () => undefined);
}
