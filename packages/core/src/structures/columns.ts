/**
 * Tables of columns: one typed array per field of what they hold (docs/decisions/0002).
 *
 * A column is declared once, as a field of its table. Whatever has to visit all of them (snapshots,
 * hashes, tests) asks `columnsOf`, so that no second list has to be kept; whoever knows which one
 * it wants reads the field, which is as fast as any field of any object.
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

/** The columns of a table as everybody but `apply` sees them. */
export type ReadonlyColumns<Table> = {
  readonly [K in keyof Table as Table[K] extends Column ? K : never]: ReadonlyColumn;
};

/** The length comes first: the fields of a table that extends this are made from it. */
export class ColumnTable {
  readonly capacity: number;

  constructor(capacity: number) {
    this.capacity = capacity;
  }
}

/** Every column of a table by its name, private ones too, in the order of their declarations. */
export function columnsOf(table: ColumnTable): ReadonlyMap<string, Column> {
  const columns = new Map<string, Column>();
  for (const [name, value] of Object.entries(table)) {
    if (ArrayBuffer.isView(value)) columns.set(name, value as Column);
  }
  return columns;
}
