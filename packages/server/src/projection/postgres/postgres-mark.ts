import type { SyncSession } from '@sluice/postgres';
import type { MarkFile, SavedMark } from '../rows/mark-file.ts';
import type { ProjectedProgram } from '../runs/run-record.ts';

const START: SavedMark = { position: 0, at: 0, rebuildTo: 0 };

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export interface MarkOptions {
  readonly schema: string;
  readonly partition: number;
}

/** The durable mark in PostgreSQL. It never goes back, whoever writes it last. */
export class PostgresMark implements Pick<MarkFile, 'read' | 'write' | 'programs' | 'close'> {
  private readonly session: SyncSession;
  private readonly mark: string;
  private readonly program: string;
  private readonly partition: number;

  constructor(session: SyncSession, { schema, partition }: MarkOptions) {
    this.session = session;
    this.mark = `"${schema}".mark`;
    this.program = `"${schema}".program`;
    this.partition = partition;
  }

  read(): SavedMark {
    const { rows } = this.session.query<SavedMark>(
      `SELECT position::float8 AS position, at::float8 AS at, rebuild_to::float8 AS "rebuildTo"
       FROM ${this.mark} WHERE partition = $1`,
      [this.partition],
    );
    return rows.at(0) ?? START;
  }

  /** Saves the mark and the definitions that came before it, both or none. */
  write({ position, at, rebuildTo }: SavedMark, programs: readonly ProjectedProgram[] = []): void {
    const places = programs.map(({ place }) => place);
    const texts = programs.map((program) => Buffer.from(JSON.stringify(program)));
    this.session.query(
      `WITH programs AS (
        INSERT INTO ${this.program} SELECT $1::int, * FROM unnest($5::int[], $6::bytea[])
        ON CONFLICT (partition, place) DO UPDATE SET program = excluded.program
      )
      INSERT INTO ${this.mark} AS known VALUES ($1::int, $2, $3, $4)
      ON CONFLICT (partition) DO UPDATE SET position = excluded.position, at = excluded.at,
        rebuild_to = excluded.rebuild_to
      WHERE known.position <= excluded.position`,
      [this.partition, position, at, rebuildTo, places, texts],
    );
  }

  programs(): ProjectedProgram[] {
    const { rows } = this.session.query<{ program: Uint8Array }>(
      `SELECT program FROM ${this.program} WHERE partition = $1`,
      [this.partition],
    );
    return rows.map(({ program }) => JSON.parse(decoder.decode(program)) as ProjectedProgram);
  }

  /** Nothing needs the session any more: rows are closed before. */
  close(): void {
    this.session.close();
  }
}
