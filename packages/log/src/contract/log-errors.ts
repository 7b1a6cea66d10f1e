/** Another process, or another `FileLog` in this process, has the folder open. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
  readonly folder: string;

  constructor(folder: string, holder?: string) {
    const by = holder === undefined ? '' : ` by ${holder}`;
    super(
      `the log folder '${folder}' is in use${by}; ` +
        'stop the server that has it open, or choose another folder',
    );
    this.folder = folder;
  }
}

/** The folder is on a file system whose locks and syncs the log cannot rely on. */
export class NetworkFolderError extends Error {
  override readonly name = 'NetworkFolderError';
  readonly folder: string;

  constructor(folder: string, fileSystem: string) {
    super(
      `the log folder '${folder}' is on a network file system (${fileSystem}); ` +
        'choose a folder on a local disk, or set allowNetworkFolder and accept that a second ' +
        'server is not kept out and that acknowledged records may get lost',
    );
    this.folder = folder;
  }
}

/**
 * A write failed, so it is unknown what the disk holds: the kernel may have dropped the data and
 * report success next time. The log accepts nothing more; end the process and start it again.
 */
export class LogFailedError extends Error {
  override readonly name = 'LogFailedError';

  constructor(place: string, cause: unknown, remedy = 'see to the disk') {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `the log in '${place}' failed and accepts nothing more (${reason}); ` +
        `${remedy}, then start the process again`,
      { cause },
    );
  }
}

/** There is no room on the disk to acquire the log. Nothing is lost; the call may be repeated. */
export class LogFullError extends Error {
  override readonly name = 'LogFullError';

  constructor(folder: string) {
    super(`no room on the disk for the log in '${folder}'; free some space, then try again`);
  }
}

/** The record was trimmed. The reader starts again from a snapshot at or past `first`. */
export class LogTrimmedError extends Error {
  override readonly name = 'LogTrimmedError';
  /** The requested record. */
  readonly record: number;
  /** The first record that can be read. */
  readonly first: number;

  constructor(record: number, first: number) {
    super(
      `cannot read record ${record}: the log was trimmed and starts with record ${first}; ` +
        'load a snapshot and read on behind it',
    );
    this.record = record;
    this.first = first;
  }
}

/** Position of the damage, for the message and for tools. */
export interface CorruptPosition {
  readonly file: string;
  readonly offset: number;
  /** The first record that cannot be read. */
  readonly record: number;
}

/** Committed records are damaged or missing. The log refuses to open instead of skipping them. */
export class LogCorruptError extends Error {
  override readonly name = 'LogCorruptError';
  readonly file: string;
  readonly offset: number;
  readonly record: number;

  constructor(position: CorruptPosition, finding: string, store = 'folder') {
    super(
      `the log is corrupt at record ${position.record}, byte ${position.offset} of ` +
        `'${position.file}': ${finding}; restore the ${store} from a backup and delete nothing ` +
        'in it',
    );
    this.file = position.file;
    this.offset = position.offset;
    this.record = position.record;
  }
}

/** The segment was written by a version of Sluice whose format this one does not know. */
export class LogFormatError extends Error {
  override readonly name = 'LogFormatError';

  constructor(file: string, finding: string) {
    super(`cannot read the log segment '${file}': ${finding}`);
  }
}
