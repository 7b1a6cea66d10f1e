import { expect, test } from 'vitest';
import { Situations } from '../base/situations.ts';
import { HandlerRuns } from '../checkers/rules/handler-runs.ts';
import { Simulation } from '../kernel/simulation.ts';
import { ClusterStory } from './cluster-story.ts';
import { SimDatabase } from './database/sim-database.ts';
import { NOTHING } from './database/statement.ts';

/** The checker, with nothing but claims to look at. */
class Claims {
  readonly simulation = new Simulation({ seed: 1 });
  private readonly database = new SimDatabase({
    after: () => undefined,
    clock: () => this.simulation.now,
    statementMs: () => 0,
  });
  private readonly story = new ClusterStory({
    simulation: this.simulation,
    situations: new Situations(),
    runs: new HandlerRuns(this.simulation),
    database: () => this.database,
    newestLevelOf: () => 1,
    onHalted: () => undefined,
  });

  /** The claim is visible. */
  claims(epoch: number): this {
    this.simulation.now += 1;
    this.setEpoch(epoch);
    const statement = { kind: 'claim', plan: () => NOTHING };
    this.story.committed(statement, { host: `server${epoch}` });
    return this;
  }

  /** The database is one that knows claims only up to this epoch. */
  failsOver(epoch: number): this {
    this.setEpoch(epoch);
    this.story.restored(false);
    return this;
  }

  speaks(epoch: number): this {
    this.simulation.now += 1;
    this.story.pushed({ machine: `server${epoch}`, epoch, askedAt: this.simulation.now });
    return this;
  }

  private setEpoch(epoch: number): void {
    const { tables } = this.database;
    tables.hold = { ...tables.hold, epoch };
    tables.partition = { ...tables.partition, epoch };
  }
}

test('an owner that speaks after a claim of another one is noticed (I34)', () => {
  expect(() => new Claims().claims(1).claims(2).speaks(2)).not.toThrow();
  expect(() => new Claims().claims(1).claims(2).speaks(1)).toThrow(/^I34: server1 pushes with/);
});

test('an owner goes on when a failover takes back a claim that nobody was told of', () => {
  expect(() => new Claims().claims(1).claims(2).failsOver(1).speaks(1)).not.toThrow();
});

test('an owner that spoke before the replica had its claim is noticed (I34)', () => {
  const spoken = new Claims().claims(1).claims(2).speaks(2);

  expect(() => spoken.failsOver(1)).toThrow(/^I34: epoch 2 spoke, and the replica/);
});
