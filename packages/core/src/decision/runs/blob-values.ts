import { isBlobReference } from '../../base/blob-reference.ts';
import type { Utf8 } from '../../base/utf8.ts';
import { type BlobAnswer, keyOf } from '../../expressions/blob-questions.ts';
import type { PathStep } from '../../expressions/expression.ts';
import type { JsonRange } from '../../expressions/json-bytes.ts';
import { ValueError } from '../../expressions/json-writer.ts';

/** A value is in a blob, and the shell has not been asked for it. */
export class BlobNeeded extends ValueError {
  override readonly name: 'ValueError' = 'ValueError';
  readonly key: string;

  constructor(key: string) {
    super('bad_value', 'a value is in a blob, and expressions cannot look into blobs here');
    this.key = key;
  }
}

/** Whether the payload is a reference to a blob. */
export function isInBlob({ bytes, start, end }: JsonRange): boolean {
  return isBlobReference(bytes, start, end - start);
}

const NULL = Uint8Array.from([0x6e, 0x75, 0x6c, 0x6c]);

/**
 * Values inside of blobs. They are known only while the answers of the shell are taken: what is
 * made of them is in the log, so nothing else has to keep them.
 */
export class BlobValues {
  private readonly utf8: Utf8;
  private answers: ReadonlyMap<string, BlobAnswer> = new Map();
  /** Takes the questions while they are gathered. */
  private asked: Set<string> | undefined;

  constructor(utf8: Utf8) {
    this.utf8 = utf8;
  }

  /** The value at the end of a path into a blob. Throws `BlobNeeded`, or what was found wrong. */
  value(reference: JsonRange, path: readonly PathStep[] = [], isLength = false): JsonRange {
    const { bytes, start, end } = reference;
    const sha256 = this.utf8.decode(bytes.subarray(start + 1, end));
    const key = keyOf({ sha256, path, isLength });
    if (this.asked !== undefined) {
      this.asked.add(key);
      return { bytes: NULL, start: 0, end: NULL.length };
    }
    const answer = this.answers.get(key);
    if (answer === undefined) throw new BlobNeeded(key);
    const { problem, value = 'null' } = answer;
    if (problem !== undefined) throw new ValueError(problem.code, problem.message);
    const found = this.utf8.encode(value);
    return { bytes: found, start: 0, end: found.length };
  }

  /** The payload itself, or the whole value in the blob. */
  whole(range: JsonRange): JsonRange {
    return isInBlob(range) ? this.value(range) : range;
  }

  /** The questions that reading these values asks. */
  questions(reads: Iterable<() => void>): string[] {
    const asked = new Set<string>();
    this.asked = asked;
    try {
      for (const read of reads) attempt(read);
    } finally {
      this.asked = undefined;
    }
    return [...asked];
  }

  /** What `act` reads is answered by these. */
  during<T>(answers: readonly BlobAnswer[], act: () => T): T {
    this.answers = new Map(answers.map((answer) => [answer.key, answer]));
    try {
      return act();
    } finally {
      this.answers = new Map();
    }
  }
}

/** A value that cannot be read asks nothing more. It fails its step when that is entered. */
function attempt(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
  }
}
