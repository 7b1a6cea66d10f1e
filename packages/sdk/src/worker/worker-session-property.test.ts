import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FaultyNetwork, NO_FAULTS } from '../testing/faulty-network.ts';
import { LawfulServer } from '../testing/lawful-server.ts';
import { SeededRandom } from '../testing/seeded-random.ts';
import { VirtualTime } from '../testing/virtual-time.ts';
import { WatchedWorker } from '../testing/watched-worker.ts';

const TASKS = 60;
const FAULTY_MS = 120_000;
const HEALED_MS = 120_000;
const TICK_MS = 500;

/** A worker on a bad network with a server that restarts, until both work again. */
class World {
  readonly time = new VirtualTime();
  readonly server = new LawfulServer(this.time);
  readonly worker: WatchedWorker;
  private readonly random: SeededRandom;
  private readonly network: FaultyNetwork;
  private isHealed = false;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    const often = () => (this.random.chance(0.5) ? this.random.next() * 0.2 : 0);
    this.network = new FaultyNetwork(this.time, this.random, this.server, {
      requestLost: often(),
      requestTwice: often(),
      answerLost: often(),
      answerTwice: often(),
      silence: this.random.next(),
      refused: often(),
      cut: often(),
    });
    for (let i = 0; i < TASKS; i++) {
      this.time.startTimer(this.random.next() * FAULTY_MS, () => this.server.submit(`t_${i}`));
    }
    this.every(TICK_MS, () => this.server.tick());
    this.every(5000, () => this.server.ping());
    this.every(3000, () => this.disturb());
    this.worker = new WatchedWorker(this.time, this.random, this.network);
  }

  run(): void {
    this.time.advance(FAULTY_MS);
    this.isHealed = true;
    this.network.faults = NO_FAULTS;
    if (!this.server.isUp) this.server.restart();
    this.time.advance(HEALED_MS);
  }

  private every(ms: number, run: () => void): void {
    this.time.startTimer(ms, () => {
      run();
      this.every(ms, run);
    });
  }

  private disturb(): void {
    if (this.isHealed) return;
    const [lease] = this.server.currentLeases();
    if (lease !== undefined && this.random.chance(0.2)) this.server.revoke(lease);
    if (!this.server.isUp || !this.random.chance(0.05)) return;
    this.server.crash();
    this.time.startTimer(this.random.next() * 20_000, () => {
      if (!this.server.isUp) this.server.restart();
    });
  }
}

test('on a bad network every task ends once, and no rule of the contract is broken', () => {
  const seen = { resumes: 0, losses: 0, lines: 0 };
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const world = new World(seed);

      world.run();

      const { server, worker } = world;
      expect(server.succeeded.size).toBe(TASKS);
      expect([...server.succeeded.values()].every((times) => times === 1)).toBe(true);
      expect(worker.unansweredLeases).toEqual([]);
      expect(worker.unheard).toEqual([]);
      for (const [lease, lines] of server.keptLines()) {
        expect(lines).toEqual(worker.written.get(lease));
        seen.lines += lines.length;
      }
      seen.resumes += worker.resumes;
      seen.losses += worker.losses;
    }),
    { numRuns: 100 },
  );
  expect(seen.resumes).toBeGreaterThan(100);
  expect(seen.losses).toBeGreaterThan(10);
  expect(seen.lines).toBeGreaterThan(1000);
});

test('a worker that stops on a bad network leaves nothing behind', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const world = new World(seed);
      const { server, worker, time } = world;
      time.startTimer(60_000, () => worker.session.stop(1000));

      world.run();

      expect(worker.isOver).toBe(true);
      expect(server.currentLeases()).toEqual([]);
      expect(worker.unheard).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
