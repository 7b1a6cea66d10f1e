import type { ServerView } from '@sluice/postgres';
import type { OwnerPlace } from '../forwarding/peer.ts';
import { askRole } from './owner-probe.ts';

const LOOK_MS = 500;

export interface SuccessorWatchOptions {
  /** Of the hold that somebody else may have taken. */
  readonly epoch: number;
  /** Whether the database has not confirmed the hold for so long that it may be another's. */
  readonly isInDoubt: () => boolean;
  readonly others: () => readonly Pick<ServerView, 'address' | 'runId'>[];
  /** Another server holds the partition with a later epoch. May be called again until `stop`. */
  readonly onFound: (place: OwnerPlace) => void;
}

/**
 * An owner that cannot reach the database does not hear that it was replaced, and would keep its
 * clients and workers for as long as the cut lasts. So it asks the other servers. A later epoch is
 * proof: epochs only grow, and the database gives each to one server. While the database is away
 * for all of them nobody has a later epoch, and the owner keeps its memory.
 */
export class SuccessorWatch {
  private readonly options: SuccessorWatchOptions;
  private readonly timer: NodeJS.Timeout;
  private isAsking = false;
  private isStopped = false;

  constructor(options: SuccessorWatchOptions) {
    this.options = options;
    this.timer = setInterval(() => void this.look(), LOOK_MS);
  }

  stop(): void {
    this.isStopped = true;
    clearInterval(this.timer);
  }

  /** Never rejects. */
  private async look(): Promise<void> {
    const { isInDoubt, others, onFound } = this.options;
    if (this.isAsking || !isInDoubt()) return;
    this.isAsking = true;
    const places = await Promise.all(others().map((other) => this.placeOfOwner(other)));
    this.isAsking = false;
    const found = places.find((place) => place !== undefined);
    if (found !== undefined && !this.isStopped) onFound(found);
  }

  /** Undefined unless the server at this address took over. */
  private async placeOfOwner({
    address: url,
  }: Pick<ServerView, 'address'>): Promise<OwnerPlace | undefined> {
    if (!URL.canParse(url)) return undefined;
    // A server that cannot be asked says nothing.
    const said = await askRole(url).catch(() => undefined);
    if (said?.role !== 'owner' || !((said.epoch ?? 0) > this.options.epoch)) return undefined;
    return { url, runId: said.runId };
  }
}
