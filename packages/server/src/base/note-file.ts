import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A small text that outlives the server. */
export interface Note {
  /** Undefined when it was never written. */
  read(): Promise<string | undefined>;
  /** Replaces it, durably: after a crash it is the old text or the new one. */
  write(text: string): Promise<void>;
}

/** A note in a file. */
export class NoteFile implements Note {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  async read(): Promise<string | undefined> {
    try {
      return await readFile(this.path, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw cause;
    }
  }

  async write(text: string): Promise<void> {
    const unfinished = `${this.path}.unfinished`;
    const file = await open(unfinished, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, this.path);
    const folder = await open(dirname(this.path));
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}
