import type { Access, Route } from '@sluice/protocol';
import type { HTTPMethods } from 'fastify';

interface RouteOptions {
  readonly method: HTTPMethods;
  readonly url: string;
  readonly config: { readonly access: Access };
}

/** A route of the protocol's table as the web framework wants it. */
export function routeOptions({ method, path, access }: Route): RouteOptions {
  return { method, url: path.replaceAll(/\{(\w+)\}/g, ':$1'), config: { access } };
}
