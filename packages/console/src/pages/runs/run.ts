import type { Answer } from '../../base/api.ts';
import { duration } from '../../base/words.ts';

export type Run = Answer<'GET /v1/runs/{id}'>;

export function isOver({ status }: Pick<Run, 'status'>): boolean {
  return status !== 'running' && status !== 'paused';
}

/** How long something took; empty while it goes on. */
export function tookOf(startedAt: string | null, endedAt: string | null): string {
  if (startedAt === null || endedAt === null) return '';
  return duration(Date.parse(endedAt) - Date.parse(startedAt));
}
