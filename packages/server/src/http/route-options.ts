import type { Route } from '@sluice/protocol';
import type { HTTPMethods } from 'fastify';

/** A route of the protocol's table as the web framework wants it. */
export function routeOptions(route: Route): { method: HTTPMethods; url: string } {
  return { method: route.method, url: route.path.replaceAll(/\{(\w+)\}/g, ':$1') };
}
