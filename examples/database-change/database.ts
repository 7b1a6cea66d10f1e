/** Stands for a database with shards: the columns of one table, per shard. */
export const shards = new Map<string, readonly string[]>();

/** Copies of the table, by the name of the backup and of the shard. */
const backups = new Map<string, ReadonlyMap<string, readonly string[]>>();

export function columnsOf(shard: string): readonly string[] {
  const columns = shards.get(shard);
  if (columns === undefined) throw new Error(`no shard ${shard}`);
  return columns;
}

export function addColumn(shard: string, column: string): void {
  const columns = columnsOf(shard);
  // A retry finds the column that an earlier attempt added.
  if (!columns.includes(column)) shards.set(shard, [...columns, column]);
}

export function backUpAs(name: string, names: readonly string[]): void {
  backups.set(name, new Map(names.map((shard) => [shard, columnsOf(shard)])));
}

export function restore(name: string): void {
  for (const [shard, columns] of backups.get(name) ?? []) shards.set(shard, columns);
}
