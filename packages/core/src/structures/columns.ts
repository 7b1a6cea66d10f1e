/**
 * Tables of columns: one typed array per field (docs/decisions/0002).
 *
 * A column is declared once, as a field of its table. Code that visits all columns (snapshots,
 * hashes, tests) calls `columnsOf`, so no second list is needed. Other code reads the field
 * directly, which is as fast as any field access.
 */
export type Column =
  | Float64Array
  | Uint32Array
  | Int32Array
  | Uint16Array
  | Int16Array
  | Uint8Array;

/** A column that may be read and not written. */
interface ReadonlyColumn {
  readonly [slot: number]: number;
  readonly length: number;
}

/** Read-only view of a table's columns for code outside `apply`. */
export type ReadonlyColumns<Table> = {
  readonly [K in keyof Table as Table[K] extends Column ? K : never]: ReadonlyColumn;
};

/** Sets the length first, because the fields of derived tables are created from it. */
export class ColumnTable {
  readonly capacity: number;

  constructor(capacity: number) {
    this.capacity = capacity;
  }
}

/** All columns of a table by name, including private ones, in the order of their declarations. */
export function columnsOf(table: ColumnTable): ReadonlyMap<string, Column> {
  const columns = new Map<string, Column>();
  for (const [name, value] of Object.entries(table)) {
    if (ArrayBuffer.isView(value)) columns.set(name, value as Column);
  }
  return columns;
}
