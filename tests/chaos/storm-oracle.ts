import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Partition } from '@sluice/core';
import { FileSnapshots, readLogFolder } from '@sluice/log';
import { EMBEDDED_PARTITION, loadConfig, partitionLimits } from '@sluice/server';
import type { Mutant } from '../../packages/simulator/src/mutants/mutant.ts';
import { ServerProcess } from '../support/server-process.ts';

const STORM_SERVER = fileURLToPath(new URL('./storm-server.ts', import.meta.url));

const DEATH = /died at record (\d+) with state hash (\d+)/;

const IDS_PER_REQUEST = 1000;

/** Starts a server for a storm. It can die and report its last state. */
export function startStormServer(
  dataFolder: string,
  mutants: readonly Mutant[] = [],
): Promise<ServerProcess> {
  return ServerProcess.start({
    command: process.execPath,
    args: [STORM_SERVER, dataFolder],
    env: { SLUICE_STORM_MUTANTS: JSON.stringify(mutants) },
  });
}

/** The end of a server: the length of its log, and the hash of its state in memory. */
export interface Death {
  readonly tail: number;
  readonly hash: number;
}

/** Kills the server right after an append, like a power cut. */
export async function killWithHash(server: ServerProcess): Promise<Death> {
  server.signal('SIGUSR2');
  await server.printed(/armed\n/);
  const request = { method: 'POST', body: '{"type":"last"}' };
  // There is no answer: the server dies after this append, or after an earlier one by a timer.
  await fetch(`${server.url}/v1/tasks`, request).catch(() => undefined);
  const [, tail, hash] = await server.printed(DEATH);
  await server.exited();
  return { tail: Number(tail), hash: Number(hash) };
}

/**
 * Compares the state hash with that of the replayed log, from each snapshot and from the beginning.
 * A part of the log that was trimmed is skipped.
 */
export async function problemsOfFolder(folder: string, death: Death): Promise<string[]> {
  const snapshots = await FileSnapshots.open(join(folder, 'snapshots'));
  const problems: string[] = [];
  for (const from of [...(await snapshots.positions()), 0]) {
    try {
      const hash = await foldedHash(folder, snapshots, { from, upTo: death.tail });
      if (hash === death.hash) continue;
      problems.push(`folded from record ${from}, the state hash is ${hash}, not ${death.hash}`);
    } catch (cause) {
      const { name, message } = cause as Error;
      if (name !== 'LogTrimmedError') problems.push(`cannot fold from ${from}: ${name} ${message}`);
    }
  }
  return problems;
}

async function foldedHash(
  folder: string,
  snapshots: FileSnapshots,
  { from, upTo }: { readonly from: number; readonly upTo: number },
): Promise<number> {
  const partition = new Partition({
    partition: EMBEDDED_PARTITION,
    limits: partitionLimits(loadConfig({ flags: {}, env: {} }).config),
    utf8: {
      encode: (text) => new TextEncoder().encode(text),
      decode: (bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
    },
  });
  if (from > 0) partition.load(await snapshots.open(from));
  await readLogFolder(join(folder, 'log'), {
    from,
    upTo,
    onBatch: ({ bytes, firstRecord }) => partition.replay(bytes, firstRecord),
  });
  return partition.hashState();
}

type View = Readonly<Record<string, unknown>>;

/** Tasks as the server shows them, by id. Tasks that it does not know are absent. */
export async function viewsOf(url: string, ids: Iterable<string>): Promise<Map<string, View>> {
  const left = [...ids];
  const views = new Map<string, View>();
  while (left.length > 0) {
    const body = JSON.stringify({ ids: left.splice(0, IDS_PER_REQUEST) });
    const response = await fetch(`${url}/v1/tasks/get`, { method: 'POST', body });
    const { items } = (await response.json()) as { items: View[] };
    for (const view of items) views.set(String(view.id), view);
  }
  return views;
}

/** Every acknowledged task must be found, whatever its state. */
export function problemsOfAcknowledged(ids: Iterable<string>, views: Map<string, View>): string[] {
  const missing = [...ids].filter((id) => !views.has(id));
  return missing.map((id) => `${id} was acknowledged and is not found`);
}

/** Fields that time may change. The state hash covers them; this comparison cannot. */
const MOVING = ['state', 'reason', 'attempt', 'attempts', 'runAt', 'endedAt', 'output', 'error'];

/** Compares each task before and after a restart. */
export function problemsOfWalk(before: Map<string, View>, after: Map<string, View>): string[] {
  return [...before].flatMap(([id, view]) => {
    const found = after.get(id);
    if (found === undefined) return [`${id} is gone; it was ${JSON.stringify(view)}`];
    const hasMoved = view.state !== found.state || view.attempt !== found.attempt;
    const ignored = hasMoved ? [...MOVING, 'progress', 'cancelRequestedAt'] : ['progress'];
    if (isDeepStrictEqual(without(view, ignored), without(found, ignored))) return [];
    return [`${id} was ${JSON.stringify(view)} and is ${JSON.stringify(found)}`];
  });
}

function without(view: View, names: readonly string[]): View {
  return Object.fromEntries(Object.entries(view).filter(([name]) => !names.includes(name)));
}
