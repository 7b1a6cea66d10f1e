/**
 * A storm of random requests over a server that is killed in the middle and at the end:
 * npm run test:requests -- --count 50000 --kills 10 --seed 1
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Mutant } from '../../packages/simulator/src/mutants/mutant.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { cancelHeld, holdTask } from './held-task.ts';
import { KnownThings } from './known-things.ts';
import { requestStorm, type StormResult } from './request-storm.ts';
import {
  killWithHash,
  problemsOfAcknowledged,
  problemsOfFolder,
  problemsOfWalk,
  startStormServer,
  viewsOf,
} from './storm-oracle.ts';

export interface KilledStormPlan {
  /** Number of random requests, not counting the one sweep over all numbers. */
  readonly count: number;
  readonly seed: number;
  /** Each kill ends a part of the storm; at least 1. */
  readonly kills: number;
  /** Bugs to plant into the server. */
  readonly mutants?: readonly Mutant[];
}

export interface KilledStormResult extends StormResult {
  /** Tasks whose submit was acknowledged, and that were found after the last restart. */
  readonly found: number;
}

/**
 * After each kill, three things must hold. The log leads to the state that the server had in
 * memory. The next server starts. It shows every acknowledged task as the previous server did.
 */
export async function killedStorm(plan: KilledStormPlan): Promise<KilledStormResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-requests-'));
  const server = await startStormServer(folder, plan.mutants);
  const run = new StormRun(plan, folder, server);
  try {
    for (let part = 0; part < plan.kills && run.problems.length === 0; part++) await run.part(part);
  } catch (cause) {
    run.problems.push((cause as Error).message);
  } finally {
    await run.server.kill();
    await rm(folder, { recursive: true });
  }
  return run;
}

class StormRun implements KilledStormResult {
  sent = 0;
  found = 0;
  readonly answers = new Map<string, number>();
  readonly problems: string[] = [];
  server: ServerProcess;
  private readonly plan: KilledStormPlan;
  private readonly folder: string;
  private readonly known = new KnownThings();

  constructor(plan: KilledStormPlan, folder: string, server: ServerProcess) {
    this.plan = plan;
    this.folder = folder;
    this.server = server;
  }

  /** Runs one part of the storm, a kill, a restart, and the checks. */
  async part(part: number): Promise<void> {
    const { count, seed, kills, mutants } = this.plan;
    const sweeps = part === 0;
    const share = { count: Math.ceil(count / kills), seed: seed + part * count, sweeps };
    this.add(await requestStorm(this.server.url, share, this.known));
    const ready = await fetch(`${this.server.url}/health/ready`);
    if (ready.status !== 200) this.problems.push(`not ready: ${await ready.text()}`);

    const held = await holdTask(this.server.url);
    const before = await viewsOf(this.server.url, this.known.acknowledged);
    this.problems.push(...problemsOfAcknowledged(this.known.acknowledged, before));
    const death = await killWithHash(this.server);
    this.problems.push(...(await problemsOfFolder(this.folder, death)));
    this.server = await startStormServer(this.folder, mutants);
    const after = await viewsOf(this.server.url, this.known.acknowledged);
    this.problems.push(...problemsOfWalk(before, after));
    this.found = after.size;
    await cancelHeld(this.server.url, held);
  }

  private add({ sent, answers, problems }: StormResult): void {
    this.sent += sent;
    for (const [name, times] of answers) {
      this.answers.set(name, (this.answers.get(name) ?? 0) + times);
    }
    this.problems.push(...problems);
  }
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { count: text, seed: text, kills: text } });
  const count = Number(values.count ?? 50_000);
  const seed = Number(values.seed ?? Date.now());
  const kills = Number(values.kills ?? 5);
  process.stdout.write(`${count} requests, seed ${seed}\n`);
  const { sent, found, answers, problems } = await killedStorm({ count, seed, kills });
  for (const [name, times] of [...answers].sort()) process.stdout.write(`${times}\t${name}\n`);
  for (const problem of problems) process.stdout.write(`PROBLEM ${problem}\n`);
  process.stdout.write(`${sent} sent, ${found} tasks found, ${problems.length} problems\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

if (import.meta.main) await main();
