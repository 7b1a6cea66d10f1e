/** Tables of blobs. */
type BlobTable = 'blob' | 'blob_piece' | 'blob_upload';

/**
 * Names of tables, with their schema: a pooler between us and the server may not keep a search
 * path.
 */
export class TableNames {
  readonly #schema: string;

  constructor(schema: string) {
    this.#schema = schema;
  }

  get schema(): string {
    return `"${this.#schema}"`;
  }

  /** A table that exists once. */
  table(
    name:
      | 'cluster'
      | 'hold'
      | 'partition'
      | 'segment'
      | 'snapshot'
      | 'mark'
      | 'program'
      | 'note'
      | 'server'
      | BlobTable,
  ): string {
    return `${this.schema}.${name}`;
  }

  /** The table of a segment. A number is never used twice. */
  segment(partition: number, number: number): string {
    return `${this.schema}.log_${partition}_${number}`;
  }

  /** A table that is known by a name that was made for it. */
  made(name: string): string {
    return `${this.schema}.${name}`;
  }
}
