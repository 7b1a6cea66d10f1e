import type { TaskRequest } from '@sluice/protocol';
import type { RequestKey } from '@sluice/sdk/logic';
import type { Operation } from '../server/operations.ts';

/** A request of a client. */
export type Asked =
  | {
      readonly kind: 'submit';
      readonly tasks: readonly TaskRequest[];
      readonly requestKey?: RequestKey;
    }
  | { readonly kind: 'get'; readonly id: string }
  | { readonly kind: 'operate'; readonly operation: Operation };

/** One request of a client, and its answer. */
export interface HistoryEntry {
  readonly client: string;
  readonly asked: Asked;
  readonly invokedAt: number;
  /** Infinite while there is no answer: the request may still take effect at any time. */
  answeredAt: number;
  /** 0 while there is no answer. */
  status: number;
  /** The network delivered the request twice, so it may take effect a second time. */
  isRepeated: boolean;
  /** The JSON of the answer; undefined when there was none. */
  answer: unknown;
}

/** All requests of clients, in the order in which they were sent. */
export class History {
  readonly entries: HistoryEntry[] = [];

  begin(client: string, asked: Asked, invokedAt: number): HistoryEntry {
    const answeredAt = Number.POSITIVE_INFINITY;
    const entry: HistoryEntry = {
      client,
      asked,
      invokedAt,
      answeredAt,
      status: 0,
      isRepeated: false,
      answer: undefined,
    };
    this.entries.push(entry);
    return entry;
  }
}
