import type { Access, Route } from '@sluice/protocol';
import type { FastifyRequest, HTTPMethods } from 'fastify';
import { invalid } from '../base/validation.ts';

interface RouteOptions {
  readonly method: HTTPMethods;
  readonly url: string;
  readonly config: { readonly access: Access; readonly isServerWide: boolean };
  readonly onRequest?: (request: FastifyRequest, reply: unknown, done: () => void) => void;
}

/** A route of the protocol's table in the form that the web framework takes. */
export function routeOptions(route: Route): RouteOptions {
  const { method, path, access, isServerWide = false, query } = route;
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const options = { method, url, config: { access, isServerWide } };
  return query === undefined ? { ...options, onRequest: refuseQuery } : options;
}

/** Query fields of a route without a query are refused by name, like any unknown field. */
function refuseQuery({ query }: FastifyRequest, _reply: unknown, done: () => void): void {
  const names = Object.keys(query as object);
  if (names.length > 0) {
    const problem = 'is not a known field';
    const details = names.slice(0, NAMES_MAX).map((name) => ({ path: `/${name}`, problem }));
    throw invalid('the query string is not valid', details);
  }
  done();
}

const NAMES_MAX = 50;
