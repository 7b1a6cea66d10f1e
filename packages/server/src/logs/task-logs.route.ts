import { LIMITS, LogQuery, ROUTES, type TaskParams } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import type { KeyStreams } from '../access/key-streams.ts';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import type { Admission } from '../limits/admission.ts';
import type { TaskArchive } from '../tasks/task-archive.ts';
import { type FollowerParts, LogFollowers } from './log-followers.ts';
import { newestLines } from './newest-lines.ts';

interface Parts extends FollowerParts {
  readonly admission: Admission;
  readonly archive: TaskArchive;
  readonly keyStreams: KeyStreams;
}

export function taskLogsRoute(app: FastifyInstance, parts: Parts): void {
  const query = new Checker(LogQuery);
  const followers = new LogFollowers(parts);
  app.addHook('preClose', async () => followers.stop());
  app.route<{ Params: TaskParams }>({
    ...routeOptions(ROUTES.getTaskLogs),
    handler: async (request, reply) => {
      const { id } = request.params;
      const { namespace } = request.caller;
      const { attempt, follow, limit = LIMITS.logLinesDefault } = parseQuery(query, request.query);
      parts.admission.read();
      await parts.archive.mustHave(namespace, id);
      if (follow !== undefined && follow !== 'false') {
        // A HEAD request has no stream to wait for.
        if (request.method === 'HEAD') return reply.type('text/event-stream').send();
        parts.waiters.admit(namespace);
        parts.keyStreams.add(request.caller, reply.raw);
        return followers.follow({ namespace, id }, reply);
      }
      return { items: await newestLines(parts.logs.readByLease(id, attempt), limit) };
    },
  });
}
