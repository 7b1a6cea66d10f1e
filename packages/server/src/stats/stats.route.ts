import { ROUTES, StatsQuery } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import type { Stats } from './stats.ts';

interface Parts {
  readonly stats: Stats;
  readonly clock: () => number;
}

export function statsRoute(app: FastifyInstance, { stats, clock }: Parts): void {
  const query = new Checker(StatsQuery);
  app.route({
    ...routeOptions(ROUTES.getStats),
    handler: async (request) => {
      const { window = '10m' } = parseQuery(query, request.query);
      return stats.view(window, clock());
    },
  });
}
