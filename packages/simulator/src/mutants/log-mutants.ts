import type { Mutant } from './mutant.ts';

const FILE_LOG = 'log/src/file/file-log.ts';
const WRITER = 'log/src/segments/segment-writer.ts';
const RECOVERY = 'log/src/segments/segment-recovery.ts';
const SNAPSHOTS = 'log/src/snapshots/file-snapshots.ts';
const CONTRACT = 'log/src/contract/partition-log.ts';

/** Bugs in the log on disk and its snapshots: when data is durable, and what a crash leaves. */
export const LOG_MUTANTS: readonly Mutant[] = [
  {
    name: 'appends-are-not-synced',
    file: WRITER,
    find: "const file = await disk.open(spare.path, 'durable');",
    replace: "const file = await disk.open(spare.path, 'create');",
    what: 'An append answers once it is durable: here the machine has yet to write it.',
  },
  {
    name: 'segment-name-is-not-synced',
    file: WRITER,
    find: '      await disk.syncFolder(folder);\n',
    replace: '',
    what: 'A segment keeps its name over a power cut: here the whole segment may vanish.',
  },
  {
    name: 'header-after-the-name',
    file: WRITER,
    find: `      await writeAll(file, { buffer, length: buffer.length, position: 0 });
      await disk.rename(spare.path, path);
      await disk.syncFolder(folder);`,
    replace: `      await disk.rename(spare.path, path);
      await disk.syncFolder(folder);
      await writeAll(file, { buffer, length: buffer.length, position: 0 });`,
    what: 'A header is durable before its segment is named (recovery.header-first): here after it.',
  },
  {
    name: 'checksum-not-checked',
    file: 'log/src/segments/segment-format.ts',
    find: 'if (checksum !== bytes.readUInt32LE(offset + 4)) return undefined;',
    replace: '',
    what: 'A torn batch is not taken for a whole one (segment.full-checksum): here it is.',
  },
  {
    name: 'recovery-does-not-sync',
    file: RECOVERY,
    find: 'await makeDurable(disk, segment.path, { bytes, lastFrameBytes, end: end.offset });',
    replace: '',
    what: 'What recovery answers is durable (recovery.durable-result): here it may be only cached.',
  },
  {
    name: 'torn-tail-halts',
    file: RECOVERY,
    find: '      refuseFrameBehind(bytes, segment, position);\n',
    replace: `      if (bytes.length > end.offset + 8 && bytes[end.offset] === 0x53) {
        refuseGap(segment, tail + 1);
      }
`,
    what: 'A torn tail is cut and the log goes on (recovery.one-torn-batch): here the start fails.',
  },
  {
    name: 'skip-the-epoch',
    file: FILE_LOG,
    find: 'const epoch = this.#latestEpoch + 1;',
    replace: 'const epoch = Math.max(1, this.#latestEpoch);',
    what: 'Every holder of the log has an epoch of its own: here it takes over the last one.',
  },
  {
    name: 'epoch-not-compared',
    file: CONTRACT,
    find: "if (batch.epoch !== position.epoch) return 'fenced';",
    replace: '',
    what: 'A holder that was fenced appends nothing more: here it does.',
  },
  {
    name: 'repeat-of-an-append-is-not-known',
    file: CONTRACT,
    find: "return isRepeat ? 'duplicate' : 'fenced';",
    replace: "return isRepeat ? 'land' : 'fenced';",
    what: 'A batch that is repeated lands once: here it lands again.',
  },
  {
    name: 'trim-takes-a-segment-too-many',
    file: FILE_LOG,
    find: "if (next === undefined || next.header.baseTail > trim.upTo) return 'ok';",
    replace: "if (next === undefined || oldest.header.baseTail > trim.upTo) return 'ok';",
    what: 'Every record from the trim on stays: here some of them go.',
  },
  {
    name: 'segment-used-again-too-early',
    file: 'log/src/segments/segment-supply.ts',
    find: `    await this.#disk.rename(path, spare);
    await this.#disk.syncFolder(this.#folder);
    this.#spares.push({ path: spare, bytes });`,
    replace: `    await this.#disk.rename(path, spare);
    this.#spares.push({ path: spare, bytes });`,
    what: 'A segment loses its name before reuse (spares.old-name-gone): here it may come back.',
  },
  {
    name: 'snapshot-is-not-synced',
    file: SNAPSHOTS,
    find: '    writeChunk(NO_BYTES);\n    file.sync();',
    replace: '    writeChunk(NO_BYTES);',
    what: 'A snapshot is durable before the log behind it goes: here it may be torn.',
  },
  {
    name: 'snapshot-name-is-not-synced',
    file: SNAPSHOTS,
    find: '    await this.#disk.syncFolder(this.#folder);\n',
    replace: '',
    what: 'A snapshot keeps its name over a power cut: here it may vanish.',
  },
  {
    name: 'snapshot-checksum-not-checked',
    file: SNAPSHOTS,
    find: 'if (checksum !== chunkHeader.readUInt32LE(4)) throw damagedAt(path, at);',
    replace: '',
    what: 'A damaged snapshot is not loaded (snapshot-file.chained-chunks): here it is.',
  },
];
