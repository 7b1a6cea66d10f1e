import type { LogLine } from '../operators/operator-types.ts';

/** The lines that handlers log. */
export class TestLogs {
  private readonly attempts = new Map<string, { readonly id: string; readonly attempt: number }>();
  private readonly lines = new Map<string, LogLine[]>();

  /** A handler starts. */
  begin({ lease, id, attempt }: { lease: string; id: string; attempt: number }): void {
    this.attempts.set(lease, { id, attempt });
  }

  keep(lease: string, line: string, now: number): void {
    const { id, attempt } = this.attempts.get(lease) ?? { id: '', attempt: 0 };
    const lines = this.lines.get(id) ?? [];
    lines.push({ attempt, at: new Date(now).toISOString(), line });
    this.lines.set(id, lines);
  }

  /** The lines of a task, over all attempts. */
  of(id: string): readonly LogLine[] {
    return this.lines.get(id) ?? [];
  }
}
