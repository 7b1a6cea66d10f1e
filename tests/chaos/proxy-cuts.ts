import type { Cut } from '@sluice/postgres/testing/cutting-proxy';
import type { ClusterProcesses } from '../support/cluster-processes.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { DoublingLoad } from './doubling-load.ts';

/** No other statement has this text. */
const APPEND = 'ON CONFLICT (first_record) DO NOTHING';
const POSITION = /^sluice_standby_position (\d+)$/m;
const TIMEOUT_MS = 60_000;

/** The kinds of rounds, and what each cuts between the owner and its database. */
export const PROXY_CUTS: Readonly<Record<string, Cut>> = {
  'proxy-both': 'both',
  'proxy-answers': 'answers',
  'proxy-statements': 'statements',
  'proxy-reset': 'reset',
};

export interface ProxyRound {
  readonly cluster: ClusterProcesses;
  readonly owner: ServerProcess;
  readonly load: DoublingLoad;
  readonly cut: Cut;
}

/**
 * Cuts the owner off from its database in the middle of an append, until another server owns the
 * partition. Clients, workers and the other server reach the old owner all the time: they have to
 * leave it before the cut ends.
 */
export async function cutByProxy({ cluster, owner, load, cut }: ProxyRound): Promise<void> {
  const proxy = cluster.proxyOf(owner);
  await proxy.cutNext(cut, APPEND);
  await cluster.ownerBeside(owner);
  await load.goesOn(20);
  await load.runsOn(20);

  // Without this, the round might have cut nothing.
  if (cut !== 'reset' && proxy.heldBytes === 0) throw new Error(`nothing met the cut (${cut})`);
  proxy.heal();

  await waitUntil(async () => (await standbyPosition(owner)) !== undefined, {
    what: 'the owner that was cut off is a standby',
    timeoutMs: TIMEOUT_MS,
  });
  const position = (await standbyPosition(owner)) ?? Number.POSITIVE_INFINITY;
  await waitUntil(async () => ((await standbyPosition(owner)) ?? 0) > position, {
    what: 'the owner that was cut off follows the log',
    timeoutMs: TIMEOUT_MS,
  });
}

/** Records that a standby has read. Undefined for an owner. */
async function standbyPosition({ url }: ServerProcess): Promise<number | undefined> {
  const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const [, position] = POSITION.exec(await answer.text()) ?? [];
  return position === undefined ? undefined : Number(position);
}
