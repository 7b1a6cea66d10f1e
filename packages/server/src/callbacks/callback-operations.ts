import {
  type Author,
  DELIVERY_FAILURES,
  type Delivery,
  deliveryIdText,
  namespaceOf,
  type ReadonlyState,
  type RedeliverCallbacks,
  type RedeliverCallbacksReply,
  runIdText,
  taskIdText,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { type CallbackQuery, type CallbackView, LIMITS } from '@sluice/protocol';
import { badCursor, cursorText, pageJson } from '../answers/pages.ts';
import { callbackType, isOfRun, runCallbackType } from '../base/callback-type.ts';
import { timeText } from '../base/time-text.ts';
import type { Admission } from '../limits/admission.ts';

/** Pending deliveries, and deliveries that were given up. */
export class CallbackOperations {
  private readonly engine: Engine;
  private readonly admission: Admission;

  constructor(engine: Engine, admission: Admission) {
    this.engine = engine;
    this.admission = admission;
  }

  /** A page of deliveries, oldest change first, as JSON text. */
  list(
    namespace: string,
    { state: wanted, limit = LIMITS.pageDefault, cursor }: CallbackQuery,
  ): Promise<string> {
    const after = cursor === undefined ? 0 : parsePlace(cursor);
    this.admission.read();
    return this.engine.read((state) => {
      const page = new FirstOnes(limit + 1);
      for (const delivery of deliveriesOf(state, wanted)) {
        if (delivery.number <= after || page.isPast(delivery.number)) continue;
        if (namespaceOf(state.queues[delivery.queue].key) === namespace) page.add(delivery);
      }
      const shown = page.all.slice(0, limit);
      const next = page.all.length > limit ? String(shown.at(-1)?.number) : undefined;
      const items = shown.map((delivery) => JSON.stringify(viewOf(state, delivery)));
      return pageJson(items, next, { asOf: state.now, lagMs: 0 });
    });
  }

  /** Redelivers these deliveries, or all that were given up. */
  async redeliver(
    namespace: string,
    ids: readonly string[] | undefined,
    by: Author,
  ): Promise<Omit<RedeliverCallbacksReply, 'more'>> {
    const type = 'redeliver_callbacks';
    let sum = 0;
    for (let isFirst = true; ; isFirst = false) {
      this.admission.command(type);
      // It is one change in the audit record, however many commands it takes.
      const author = isFirst ? { by } : {};
      const command = {
        type,
        namespace,
        ...(ids === undefined ? {} : { ids }),
        ...author,
      } as const;
      const { redelivered, unknown, more } = await this.engine.execute<
        RedeliverCallbacks,
        RedeliverCallbacksReply
      >(command, (reply) => reply);
      sum += redelivered;
      if (!more) return { redelivered: sum, unknown };
    }
  }
}

function* deliveriesOf(
  { outbox }: ReadonlyState,
  wanted: CallbackQuery['state'],
): Iterable<Delivery> {
  if (wanted !== 'given_up') yield* outbox.pending();
  if (wanted !== 'pending') yield* outbox.givenUp();
}

/** The `most` deliveries with the lowest numbers. They are added almost in order. */
class FirstOnes {
  readonly all: Delivery[] = [];
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  isPast(number: number): boolean {
    return this.all.length === this.most && number > this.all[this.most - 1].number;
  }

  add(delivery: Delivery): void {
    const { all } = this;
    let place = all.length;
    while (place > 0 && all[place - 1].number > delivery.number) place -= 1;
    all.splice(place, 0, delivery);
    if (all.length > this.most) all.pop();
  }
}

function viewOf(state: ReadonlyState, delivery: Delivery): CallbackView {
  const { partition } = state;
  const { number, task, submittedAt, tries, nextAt, givenUpAt } = delivery;
  const ofRun = isOfRun(state, delivery);
  const key = { submittedAt, partition, number: task };
  return {
    id: deliveryIdText({ partition, number }),
    taskId: ofRun ? null : taskIdText(key),
    runId: ofRun ? runIdText(key) : null,
    type: ofRun ? runCallbackType(delivery.state) : callbackType(delivery.state),
    url: state.texts.callback.at(delivery.callback)?.url ?? '',
    state: givenUpAt === 0 ? 'pending' : 'given_up',
    changedAt: timeText(delivery.at),
    tries,
    status: delivery.status === 0 ? null : delivery.status,
    failure: DELIVERY_FAILURES[delivery.failure] || null,
    nextAt: givenUpAt === 0 ? timeText(nextAt) : null,
    givenUpAt: givenUpAt === 0 ? null : timeText(givenUpAt),
  };
}

function parsePlace(cursor: string): number {
  const text = cursorText(cursor);
  if (!/^\d{1,15}$/.test(text)) throw badCursor();
  return Number(text);
}
