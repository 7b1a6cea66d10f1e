/** A batch as the table of a segment stores it. Never changed after it was made. */
export interface BatchRow {
  readonly first: number;
  readonly count: number;
  readonly epoch: number;
  readonly nonce: number;
  readonly crc: number;
  readonly bytes: Buffer;
}

interface ServerRow {
  readonly runId: string;
  readonly address: string;
  readonly version: string;
  readonly position: number;
  readonly generation: string;
  readonly level: number;
  readonly seenAt: number;
}

/** The tables of a store that servers of a cluster share. */
export interface Tables {
  partition: { epoch: number; first: number; segment: number };
  hold: {
    epoch: number;
    runId: string | null;
    address: string | null;
    renewals: number;
    /** By the database's clock. */
    expiresAt: number;
    handOff: boolean;
  };
  /** The first record of each segment, by number. */
  segments: Map<number, number>;
  /** The table that each segment was written to. */
  names: Map<number, string>;
  /** Tables of segments, by name. */
  logs: Map<string, readonly BatchRow[]>;
  servers: Map<string, ServerRow>;
  notes: Map<string, Buffer>;
  mark: { position: number; at: number; rebuildTo: number } | undefined;
  /** By position, newest last. */
  snapshots: Map<number, SnapshotRow>;
  level: number;
}

interface SnapshotRow {
  readonly schema: number;
  readonly hash: number;
  readonly pieces: readonly Uint8Array[];
}

export function emptyTables(level: number): Tables {
  return {
    partition: { epoch: 0, first: 0, segment: 0 },
    hold: {
      ...{ epoch: 0, runId: null, address: null, renewals: 0 },
      ...{ expiresAt: Number.NEGATIVE_INFINITY, handOff: false },
    },
    segments: new Map([[0, 0]]),
    names: new Map(),
    logs: new Map([['log_0_0', []]]),
    servers: new Map(),
    notes: new Map(),
    mark: undefined,
    snapshots: new Map(),
    level,
  };
}

/** What a backup or a replica has. Rows are never changed, so they are shared. */
export function copyTables(tables: Tables): Tables {
  return {
    partition: { ...tables.partition },
    hold: { ...tables.hold },
    segments: new Map(tables.segments),
    names: new Map(tables.names),
    logs: new Map(tables.logs),
    servers: new Map(tables.servers),
    notes: new Map(tables.notes),
    mark: tables.mark && { ...tables.mark },
    snapshots: new Map(tables.snapshots),
    level: tables.level,
  };
}

/** The log without gaps, as a reader would see it. */
export function batchesOf({ segments, names, logs, partition }: Tables): BatchRow[] {
  const numbers = [...segments.keys()].toSorted((a, b) => a - b);
  const all = numbers.flatMap((number) => [...(logs.get(names.get(number) ?? '') ?? [])]);
  return all.filter(({ first, count }) => first + count > partition.first);
}
