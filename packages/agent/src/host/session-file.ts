import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SavedSession {
  readonly url: string;
  readonly sessionId: string;
  /** Counts the agents that had the session. */
  readonly generation: number;
}

/** Where an agent keeps its session for the next one. The id is secret. */
export class SessionFile {
  private readonly path: string;

  constructor(workFolder: string) {
    this.path = join(workFolder, 'session.json');
  }

  /** Undefined when there is none, or it is that of another server. */
  read(url: string): SavedSession | undefined {
    try {
      const saved = JSON.parse(readFileSync(this.path, 'utf8')) as Partial<SavedSession>;
      const { sessionId, generation } = saved;
      if (typeof sessionId !== 'string' || sessionId === '') return undefined;
      if (!Number.isSafeInteger(generation) || saved.url !== url) return undefined;
      return { url, sessionId, generation: generation as number };
    } catch {
      return undefined;
    }
  }

  /** At once, because a kill may follow. */
  write(session: SavedSession): void {
    writeFileSync(`${this.path}.new`, JSON.stringify(session), { mode: 0o600 });
    renameSync(`${this.path}.new`, this.path);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}
