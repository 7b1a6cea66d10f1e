import { HTTP_TASK_TYPE, type ReadonlyState, taskTypeOf } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { AddressGuard } from '../callbacks/address-guard.ts';
import { nameResolver } from '../callbacks/name-resolver.ts';
import type { Configuration } from '../config/settings.ts';
import { HttpClient } from './http-client.ts';
import { HTTP_WORKER, HttpSession, type HttpSessionParts } from './http-session.ts';

/** Runs the tasks of HTTP steps, with a session in each namespace that has any. */
export class HttpWorker {
  private readonly parts: HttpSessionParts;
  private readonly sessions = new Map<string, HttpSession>();
  private isClosed = false;

  constructor(parts: HttpSessionParts) {
    this.parts = parts;
  }

  /** Takes up what an earlier server left. */
  begin(engine: Pick<Engine, 'read'>): Promise<void> {
    return engine.read((state) => this.takeUp(state));
  }

  private takeUp(state: ReadonlyState): void {
    for (const { session, worker, held } of state.holders.holding()) {
      const queue = state.queues[state.tasks.queue[held.head]];
      const isOurs = worker === HTTP_WORKER && taskTypeOf(queue.key) === HTTP_TASK_TYPE;
      if (isOurs) this.open(queue.namespace, session);
    }
    const waiting = state.queues.filter(({ key, isFree }) => {
      return !isFree && taskTypeOf(key) === HTTP_TASK_TYPE;
    });
    this.serve(waiting.map(({ namespace }) => namespace));
  }

  /** There are HTTP steps in these namespaces. */
  serve(namespaces: readonly string[]): void {
    for (const namespace of namespaces) this.open(namespace);
  }

  /** Requests under way have `timeMs` to end. */
  async close(timeMs: number): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.sessions.values()].map((session) => session.close(timeMs)));
  }

  private open(namespace: string, resume?: string): void {
    if (this.isClosed || this.sessions.has(namespace)) return;
    const session = new HttpSession(this.parts, namespace, resume);
    this.sessions.set(namespace, session);
    session.open();
  }
}

/** Requests of steps go where callbacks may go. */
export function makeHttpWorker(
  { allow, dnsServers }: Pick<Configuration['callbacks'], 'allow' | 'dnsServers'>,
  { gateway, version }: Pick<HttpSessionParts, 'gateway' | 'version'>,
): HttpWorker {
  const guard = new AddressGuard(allow);
  const resolve = nameResolver(dnsServers);
  return new HttpWorker({ gateway, version, client: new HttpClient({ guard, resolve, version }) });
}
