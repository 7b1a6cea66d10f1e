/**
 * One stream for all that the page shows (`/v1/changes`). Its events say that there is something to
 * read; the queries that are on the screen are then read again. A quiet server costs no requests.
 */
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { whileVisible } from './visible.ts';

export type LiveState = 'connecting' | 'live' | 'lost';

const RETRY_MS = 1000;
/** The server pings after five quiet seconds. */
const SILENT_MS = 15_000;

/** Queries with this `meta` show volatile figures and are also read when nothing changed. */
export const VOLATILE = { volatile: true };
/** Queries with this `meta` are not read again by themselves. */
export const STILL = { still: true };

class LiveStream {
  private source: EventSource | undefined;
  private client: QueryClient | undefined;
  private timer: number | undefined;
  private silence: number | undefined;
  private end: () => void = () => {};
  private readonly listeners = new Set<() => void>();
  state: LiveState = 'connecting';

  start(client: QueryClient): void {
    if (this.client !== undefined) return;
    this.client = client;
    this.end = whileVisible({ open: () => this.open(), close: () => this.close() });
  }

  stop(): void {
    this.end();
    this.client = undefined;
    this.set('connecting');
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private open(): void {
    this.close();
    const source = new EventSource('/v1/changes');
    this.source = source;
    this.hear();
    source.addEventListener('open', () => this.set('live'));
    source.addEventListener('changed', () => this.refresh(false));
    source.addEventListener('ping', () => this.refresh(true));
    source.addEventListener('drain', () => this.reopen());
    source.addEventListener('error', () => this.reopen());
  }

  private close(): void {
    clearTimeout(this.timer);
    clearTimeout(this.silence);
    this.source?.close();
    this.source = undefined;
  }

  private reopen(): void {
    this.close();
    this.set('lost');
    // Tells a server that is away from a key that no longer counts.
    void this.client?.refetchQueries({ queryKey: ['GET /v1/login'] });
    this.timer = window.setTimeout(() => this.open(), RETRY_MS);
  }

  private hear(): void {
    clearTimeout(this.silence);
    this.silence = window.setTimeout(() => this.reopen(), SILENT_MS);
  }

  private refresh(isQuiet: boolean): void {
    this.hear();
    this.set('live');
    void this.client?.invalidateQueries(
      {
        predicate: ({ meta, queryKey }) =>
          queryKey[0] !== 'GET /v1/login' &&
          meta?.still !== true &&
          (!isQuiet || meta?.volatile === true),
      },
      { cancelRefetch: false },
    );
  }

  private set(state: LiveState): void {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

export const live = new LiveStream();

export function useLiveState(): LiveState {
  return useSyncExternalStore(live.subscribe, () => live.state);
}
