import type { TaskRequest } from '@sluice/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cancel, ClientPorts, HttpAnswer, HttpRequest } from '../base/ports.ts';
import { FaultyNetwork, type NetworkPeer } from '../testing/faulty-network.ts';
import { SeededRandom } from '../testing/seeded-random.ts';
import { VirtualTime } from '../testing/virtual-time.ts';
import { type SubmitOutcome, Submitter } from './submitter.ts';

const CALLS = 80;

/**
 * Stores the tasks of a request, all or nothing, and each dedupe key once in its window. It refuses
 * the type `bad`. Some stores remember requests by their keys, some do so later, and some never.
 */
class TaskStore implements NetworkPeer {
  readonly isUp = true;
  readonly epoch = 0;
  /** How often a task of a type was stored. */
  readonly stored = new Map<string, number>();
  /** Requests whose tasks had no keys. */
  requests = 0;
  private readonly byKey = new Map<string, { id: string; until: number }>();
  private readonly byRequest = new Map<string, RememberedRequest>();
  private readonly time: VirtualTime;
  private readonly knowsRequestsAfterMs: number;

  constructor(time: VirtualTime, knowsRequestsAfterMs: number) {
    this.time = time;
    this.knowsRequestsAfterMs = knowsRequestsAfterMs;
  }

  answer({ body = '', requestKey }: HttpRequest): HttpAnswer {
    const now = this.time.now();
    const tasks = JSON.parse(body) as TaskRequest[];
    const hasKeys = tasks.some(({ dedupeKey }) => dedupeKey !== undefined);
    const isKnown = requestKey !== undefined && now >= this.knowsRequestsAfterMs;
    expect(hasKeys || isKnown, 'tasks without any key').toBe(true);
    const confirmed = isKnown ? { requestKey: requestKey.key } : {};
    if (!isKnown || hasKeys) return { ...this.take(tasks), ...confirmed };
    this.requests += 1;
    const known = this.byRequest.get(requestKey.key);
    if (known !== undefined && now < known.until) {
      expect(body, 'a resend is the same bytes').toBe(known.body);
      return { ...known.answer, ...confirmed };
    }
    const answer = this.take(tasks);
    if (answer.status === 201) {
      this.byRequest.set(requestKey.key, { body, answer, until: now + requestKey.windowMs });
    }
    return { ...answer, ...confirmed };
  }

  private take(tasks: readonly TaskRequest[]): HttpAnswer {
    const bad = tasks.findIndex(({ type }) => type.startsWith('bad'));
    if (bad >= 0) {
      const details = [{ path: `/${bad}/type`, problem: 'is bad' }];
      const error = { code: 'invalid_request', message: 'no', details };
      return { status: 400, text: JSON.stringify({ error }) };
    }
    const items = tasks.map((task) => this.store(task));
    return { status: 201, text: JSON.stringify({ items }) };
  }

  attach(): never {
    throw new Error('a client opens no streams');
  }

  streamClosed(): void {}

  private store({ type, dedupeKey, dedupeWindowMs = 0 }: TaskRequest): object {
    const now = this.time.now();
    const known = dedupeKey === undefined ? undefined : this.byKey.get(dedupeKey);
    if (known !== undefined && now < known.until) {
      return { id: known.id, state: 'queued', deduplicated: true };
    }
    if (dedupeKey !== undefined) {
      this.byKey.set(dedupeKey, { id: `t_${type}`, until: now + dedupeWindowMs });
    }
    this.stored.set(type, (this.stored.get(type) ?? 0) + 1);
    return { id: `t_${type}`, state: 'queued', deduplicated: false };
  }
}

interface RememberedRequest {
  readonly body: string;
  readonly answer: HttpAnswer;
  readonly until: number;
}

/** A client on a bad network. */
class ClientWorld implements ClientPorts {
  readonly time = new VirtualTime();
  readonly store: TaskStore;
  readonly outcomes = new Map<string, SubmitOutcome>();
  private readonly chances: SeededRandom;
  private readonly network: FaultyNetwork;

  constructor(seed: number) {
    this.chances = new SeededRandom(seed);
    const knowsAfterMs = [0, 0, 1000, Number.POSITIVE_INFINITY][this.chances.upTo(3)];
    this.store = new TaskStore(this.time, knowsAfterMs);
    const often = () => this.chances.next() * 0.3;
    this.network = new FaultyNetwork(this.time, this.chances, this.store, {
      requestLost: often(),
      requestTwice: often(),
      answerLost: often(),
      answerTwice: often(),
      silence: this.chances.next() * 0.5,
      refused: often(),
      cut: 0,
    });
    const submitter = new Submitter({ addresses: 2 }, this);
    for (let i = 0; i < CALLS; i++) {
      const type = `${this.chances.chance(0.1) ? 'bad' : 'good'}${i}`;
      this.time.startTimer(this.chances.next() * 2000, () => {
        submitter.submit([{ type }, { type: `${type}.twin` }], (outcome) => {
          expect(this.outcomes.has(type)).toBe(false);
          this.outcomes.set(type, outcome);
        });
      });
    }
  }

  send(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void): Cancel {
    return this.network.send(request, answered);
  }

  now(): number {
    return this.time.now();
  }

  startTimer(delayMs: number, run: () => void): Cancel {
    return this.time.startTimer(delayMs, run);
  }

  atEndOfTurn(run: () => void): void {
    this.time.atEndOfTurn(run);
  }

  random(): number {
    return this.chances.next();
  }
}

test('on a bad network a task is stored once, and what is said of it is true', () => {
  let unknown = 0;
  let requests = 0;
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const world = new ClientWorld(seed);

      world.time.advance(200_000);

      expect(world.outcomes.size).toBe(CALLS);
      requests += world.store.requests;
      expect([...world.store.stored.values()].every((times) => times === 1)).toBe(true);
      for (const [type, outcome] of world.outcomes) {
        const stored = [type, `${type}.twin`].map((each) => world.store.stored.get(each));
        const isStored = outcome.type === 'submitted' ? 1 : undefined;
        if (outcome.type === 'unknown') unknown += 1;
        else expect(stored, `${type} ${outcome.type}`).toEqual([isStored, isStored]);
      }
    }),
    { numRuns: 100 },
  );
  expect(unknown).toBeLessThan(CALLS);
  expect(requests).toBeGreaterThan(CALLS);
});
