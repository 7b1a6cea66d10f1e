import {
  DELIVERY_FAILURES,
  type Delivery,
  type DeliveryFailure,
  deliveryIdText,
  NO_FAILURE,
  namespaceOf,
  type ReadonlyState,
  type RecordDelivery,
  type RecordDeliveryReply,
  runIdText,
  taskIdText,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';
import { callbackType, isOfRun, isOfStep, runCallbackType } from '../base/callback-type.ts';
import { timeText } from '../base/time-text.ts';
import { DeliveryLanes, type Planned } from './delivery-lanes.ts';

/** The message for a receiver. */
export interface CallbackMessage {
  readonly url: string;
  readonly secret: string | undefined;
  /** The same for every try. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
}

export interface SendOutcome {
  /** Status of the answer; 0 without an answer. */
  readonly status: number;
  /** Absent when the receiver accepted it. */
  readonly failure?: DeliveryFailure;
  readonly retryAfterMs?: number;
}

export interface CourierOptions {
  readonly engine: Engine;
  /** The current task as JSON, from memory or the projection. */
  readonly readTask: (namespace: string, id: string) => Promise<string>;
  /** The current run as JSON, in the same way. */
  readonly readRun: (namespace: string, id: string) => Promise<string>;
  /** Never rejects. */
  readonly send: (message: CallbackMessage) => Promise<SendOutcome>;
  readonly clock: () => number;
  readonly startTimer: (delayMs: number, run: () => void) => () => void;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly concurrencyMax: number;
  readonly perHostMax: number;
  /** Called after each try with its outcome and duration. */
  readonly onTried?: (outcome: RecordDeliveryReply['outcome'], durationMs: number) => void;
}

/** When the task cannot be read, the delivery waits this long. That does not count as a try. */
const LOOK_AGAIN_MS = 1000;

/** Node timers cannot run longer than about 24 days. */
const SLEEP_MS_MAX = 3_600_000;

/**
 * Delivers callbacks: decides which delivery is tried when, and leaves the sending to `send`.
 *
 * Pending deliveries are in the log, so nothing is lost when this object is: after a start they
 * come from the state again. A try that was not recorded is repeated. So a receiver gets each
 * delivery at least once, always with the same id. Everything that is sent was read through the
 * engine, so it is durable (L2).
 */
export class Courier {
  private readonly options: CourierOptions;
  private readonly lanes: DeliveryLanes;
  private active = 0;
  private isStopped = false;
  private stopTimer: (() => void) | undefined;
  private onQuiet: (() => void) | undefined;
  /** Hosts by URL: most callbacks go to few hosts. */
  private readonly hosts = new Map<string, string>();

  constructor(options: CourierOptions) {
    this.options = options;
    this.lanes = new DeliveryLanes(options.perHostMax);
  }

  /** Takes up all pending deliveries at the start. */
  async begin(): Promise<void> {
    const owed = await this.options.engine.read((state) =>
      Array.from(state.outbox.pending(), (delivery) => this.planned(state, delivery)),
    );
    this.add(owed);
  }

  /**
   * Takes the deliveries that a command made due. The returned function runs once they are durable.
   */
  staged(numbers: readonly number[], state: ReadonlyState): (() => void) | undefined {
    const owed = numbers.flatMap((number) => {
      const delivery = state.outbox.get(number);
      return delivery === undefined ? [] : this.planned(state, delivery);
    });
    return owed.length === 0 ? undefined : () => this.add(owed);
  }

  /** Starts no more tries; resolves when none is under way. */
  close(): Promise<void> {
    this.isStopped = true;
    this.stopTimer?.();
    if (this.active === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onQuiet = resolve;
    return promise;
  }

  private add(owed: readonly Planned[]): void {
    for (const planned of owed) this.lanes.add(planned);
    this.pump();
  }

  private planned(state: ReadonlyState, { number, task, callback, nextAt }: Delivery): Planned {
    return {
      number,
      task,
      host: this.hostOf(state.texts.callback.at(callback)?.url ?? ''),
      nextAt,
    };
  }

  private hostOf(url: string): string {
    const known = this.hosts.get(url);
    if (known !== undefined) return known;
    if (this.hosts.size >= HOSTS_REMEMBERED) this.hosts.clear();
    const host = URL.canParse(url) ? new URL(url).host : url;
    this.hosts.set(url, host);
    return host;
  }

  private pump(): void {
    const { clock, concurrencyMax, startTimer } = this.options;
    if (this.isStopped) return;
    while (this.active < concurrencyMax) {
      const planned = this.lanes.take(clock());
      if (planned === undefined) break;
      this.active += 1;
      void this.try(planned);
    }
    this.stopTimer?.();
    const { nextAt } = this.lanes;
    const waitMs = Math.max(1, Math.min(nextAt - clock(), SLEEP_MS_MAX));
    const isAwaited = nextAt < Number.POSITIVE_INFINITY && this.active < concurrencyMax;
    this.stopTimer = isAwaited ? startTimer(waitMs, () => this.pump()) : undefined;
  }

  private async try(planned: Planned): Promise<void> {
    try {
      this.lanes.finish(planned, await this.deliver(planned.number));
    } catch (cause) {
      if (!this.options.engine.isStopped) throw cause;
      // The engine has reported its failure. Pending deliveries are taken up after the next start.
      this.isStopped = true;
      this.stopTimer?.();
    }
    this.active -= 1;
    if (this.isStopped && this.active === 0) this.onQuiet?.();
    this.pump();
  }

  /**
   * Returns when to try again, or undefined when the delivery is finished. Rejects when the engine
   * stopped.
   */
  private async deliver(number: number): Promise<number | undefined> {
    const { engine, clock, send } = this.options;
    const letter = await engine.read((state) => letterOf(state, number));
    if (letter === undefined) return undefined;
    const task = await this.read(letter.about);
    if (task === 'unreadable') return clock() + LOOK_AGAIN_MS;
    if (task === 'not_kept') return this.record(number, 0, { status: 0, failure: 'task_not_kept' });
    const startedAt = clock();
    const { url, secret, id, head } = letter;
    const body = letter.isOfStep ? stepBody(head, task.json) : `${head},"data":${task.json}}`;
    const outcome = await send({ url, secret, id, body });
    return this.record(number, Math.max(0, clock() - startedAt), outcome);
  }

  private async read({ namespace, id: subject, isOfRun }: Letter['about']): Promise<TaskRead> {
    const { readTask, readRun } = this.options;
    try {
      return { json: await (isOfRun ? readRun : readTask)(namespace, subject) };
    } catch (cause) {
      if (!(cause instanceof SluiceError)) throw cause;
      const isGone = cause.code === 'task_not_found' || cause.code === 'run_not_found';
      return isGone ? 'not_kept' : 'unreadable';
    }
  }

  private async record(
    number: number,
    durationMs: number,
    { status, failure, retryAfterMs }: SendOutcome,
  ): Promise<number | undefined> {
    const { engine, random, onTried } = this.options;
    // A try that was cut because the server stops is not the receiver's fault.
    if (this.isStopped && failure !== undefined) return undefined;
    const command = {
      type: 'record_delivery',
      delivery: number,
      failure: failure === undefined ? NO_FAILURE : DELIVERY_FAILURES.indexOf(failure),
      status,
      durationMs: Math.round(durationMs),
      seed: Math.floor(random() * 2 ** 32),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    } as const;
    const reply = await engine.execute<RecordDelivery, RecordDeliveryReply>(
      command,
      (each) => each,
    );
    onTried?.(reply.outcome, durationMs);
    return reply.outcome === 'failed' ? reply.nextAt : undefined;
  }
}

const HOSTS_REMEMBERED = 1000;

type TaskRead = { readonly json: string } | 'not_kept' | 'unreadable';

/** Everything in the message except the task. */
interface Letter {
  readonly url: string;
  readonly secret: string | undefined;
  readonly id: string;
  /** The beginning of the JSON body. */
  readonly head: string;
  /** The task or run. */
  readonly about: {
    readonly namespace: string;
    readonly id: string;
    readonly isOfRun: boolean;
  };
  /** Whether it is the message of a CALLBACK step. */
  readonly isOfStep: boolean;
}

/** The message of a CALLBACK step has the input of the step. */
function stepBody(head: string, json: string): string {
  const { runId, step, input = null } = JSON.parse(json) as Readonly<Record<string, unknown>>;
  return `${head},${JSON.stringify({ runId, step, data: input }).slice(1)}`;
}

/** Returns undefined when the delivery is finished or was given up. */
function letterOf(state: ReadonlyState, number: number): Letter | undefined {
  const delivery = state.outbox.get(number);
  if (delivery === undefined || delivery.givenUpAt !== 0) return undefined;
  const { partition } = state;
  const callback = state.texts.callback.at(delivery.callback);
  const { task, submittedAt, queue, at } = delivery;
  const ofRun = isOfRun(state, delivery);
  const type = ofRun ? runCallbackType(delivery.state) : callbackType(delivery.state);
  const key = { submittedAt, partition, number: task };
  return {
    url: callback?.url ?? '',
    secret: callback?.secret,
    id: deliveryIdText({ partition, number }),
    head: JSON.stringify({ type, timestamp: timeText(at) }).slice(0, -1),
    about: {
      namespace: namespaceOf(state.queues[queue].key),
      id: ofRun ? runIdText(key) : taskIdText(key),
      isOfRun: ofRun,
    },
    isOfStep: isOfStep(delivery.state),
  };
}
