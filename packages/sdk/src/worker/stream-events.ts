import type { CancelNotice, PushedTask, SignalNotice, Welcome } from '@sluice/protocol';
import type { StreamEvent } from '../calls/event-stream.ts';

/** An event of a worker's stream, as far as this version knows it. */
export type WorkerEvent =
  | { readonly name: 'welcome'; readonly welcome: Welcome }
  | { readonly name: 'tasks'; readonly tasks: readonly PushedTask[] }
  | { readonly name: 'cancel'; readonly notice: CancelNotice }
  | { readonly name: 'signal'; readonly notice: SignalNotice }
  | { readonly name: 'drain' }
  /** A `ping`, or an event of a later server. */
  | { readonly name: 'other' };

/** The parsed event; `undefined` when its data does not fit its name. */
export function readEvent({ name, data }: StreamEvent): WorkerEvent | undefined {
  if (name === 'drain') return { name };
  if (!['welcome', 'tasks', 'cancel', 'signal'].includes(name)) return { name: 'other' };
  const value = parsed(data);
  if (name === 'welcome') return isWelcome(value) ? { name, welcome: value } : undefined;
  if (name === 'tasks') return isTasks(value) ? { name, tasks: value } : undefined;
  if (!isRecord(value) || typeof value.lease !== 'string') return undefined;
  if (name === 'cancel') {
    return typeof value.reason === 'string' ? { name, notice: value as CancelNotice } : undefined;
  }
  return { name: 'signal', notice: value as unknown as SignalNotice };
}

type Unsure = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Unsure {
  return typeof value === 'object' && value !== null;
}

function isWelcome(value: unknown): value is Welcome {
  if (!isRecord(value)) return false;
  const { sessionId, heartbeatMs, pingMs, lost } = value;
  if (pingMs !== undefined && !(Number(pingMs) > 0)) return false;
  return typeof sessionId === 'string' && Number(heartbeatMs) > 0 && Array.isArray(lost);
}

function isTasks(value: unknown): value is PushedTask[] {
  if (!Array.isArray(value)) return false;
  return value.every((task) => {
    return isRecord(task) && typeof task.lease === 'string' && isRecord(task.resources);
  });
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}
