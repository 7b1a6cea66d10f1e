import type { CommittedFeed } from '@sluice/engine';
import { PostgresMark } from '@sluice/server/cluster';
import { inProcessAfter, type ProcessContext } from '../../kernel/process-context.ts';
import type { SimDatabase } from '../database/sim-database.ts';
import { type ClusterNetwork, DATABASE } from '../wires/cluster-network.ts';

interface MarkParts {
  readonly database: SimDatabase;
  readonly network: ClusterNetwork;
  readonly machine: string;
}

/** The projection's mark in the tables, as the thread of a server has it. */
export function markOf({ database, network, machine }: MarkParts): PostgresMark {
  const session = {
    query: (text: string, values: readonly unknown[]) => {
      if (network.isCut(machine, DATABASE)) throw new Error('the database does not answer');
      return database.queryAtOnce(machine, text, values);
    },
    close: () => undefined,
  };
  return new PostgresMark(session as never, { schema: 'sluice', partition: 0 });
}

/** Saves how far it has read, some time after it has read it, as the projection does. */
export class MarkWriter {
  private isOver = false;
  private readonly mark: PostgresMark;
  private readonly context: ProcessContext;

  constructor(mark: PostgresMark, feed: CommittedFeed, context: ProcessContext) {
    this.mark = mark;
    this.context = context;
    void this.run(feed);
  }

  stop(): void {
    this.isOver = true;
  }

  private async run(feed: CommittedFeed): Promise<void> {
    for (;;) {
      const batch = await feed.next().catch(() => undefined);
      if (batch === undefined || this.isOver) return;
      const watermark = { position: batch.firstRecord + batch.recordCount, at: 0 };
      const { random } = this.context;
      const delayMs = random.chance(0.1) ? random.logarithmic(50, 1500) : random.next() * 50;
      await new Promise<void>((resolve) => {
        inProcessAfter(this.context, delayMs, resolve);
      });
      // The statement may have left before the projection was told to stop.
      if (this.isOver && !random.chance(0.5)) return;
      try {
        this.mark.write({ ...watermark, rebuildTo: 0 });
      } catch {
        // The database is away; a later mark says the same and more.
        continue;
      }
      if (!this.isOver) feed.acknowledge(watermark);
    }
  }
}
