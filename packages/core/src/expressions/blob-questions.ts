import type { Utf8 } from '../base/utf8.ts';
import { depthOf, isJson } from './check-json.ts';
import type { PathStep } from './expression.ts';
import { wholeValue } from './json-bytes.ts';
import { JsonWriter, LIST_BYTES_MAX, ValueError } from './json-writer.ts';
import { writePath } from './path.ts';
import { valuePart } from './template.ts';

/**
 * What expressions ask of blobs. The core does not have their content: it asks the shell for the
 * values that a step needs, and the shell looks into the blobs with `lookIntoBlobs`.
 */
export interface BlobQuestion {
  readonly sha256: string;
  /** What is left of the path of the expression. */
  readonly path: readonly PathStep[];
  readonly isLength: boolean;
}

export interface BlobAnswer {
  /** Names the question. */
  readonly key: string;
  /** JSON text; absent when there is a problem. */
  readonly value?: string;
  readonly problem?: { readonly code: ValueError['code']; readonly message: string };
}

/** A text that is the same for the same question, and from which it can be read. */
export function keyOf({ sha256, path, isLength }: BlobQuestion): string {
  return JSON.stringify([sha256, path, isLength]);
}

function questionOf(key: string): BlobQuestion {
  const [sha256, path, isLength] = JSON.parse(key) as [string, readonly PathStep[], boolean];
  return { sha256, path, isLength };
}

/** The hashes of the blobs that these questions are about. */
export function blobsAsked(keys: readonly string[]): string[] {
  return [...new Set(keys.map((key) => questionOf(key).sha256))];
}

interface BlobReader {
  /** The content of a blob, or what is wrong with the blob. */
  readonly read: (sha256: string) => Uint8Array | string;
  /** Called before each look: a look at a large blob takes a while. */
  readonly onLook?: () => void;
  readonly utf8: Utf8;
}

/** Levels of a value that a blob gives. */
const DEPTH_MAX = 500;

/** Answers questions, with at most `LIST_BYTES_MAX` bytes in all. Each blob is read once. */
export function lookIntoBlobs(keys: readonly string[], reader: BlobReader): BlobAnswer[] {
  const answers: BlobAnswer[] = [];
  let bytesLeft = LIST_BYTES_MAX;
  for (const sha256 of blobsAsked(keys)) {
    reader.onLook?.();
    const content = reader.read(sha256);
    const wrong = typeof content === 'string' ? content : whyNoJson(content);
    for (const key of keys) {
      const question = questionOf(key);
      if (question.sha256 !== sha256) continue;
      reader.onLook?.();
      const answer =
        typeof content === 'string' || wrong !== undefined
          ? { problem: badValue(`the blob ${sha256} ${wrong}`) }
          : look(content, question, { bytesMax: bytesLeft, utf8: reader.utf8 });
      bytesLeft -= answer.value?.length ?? 0;
      answers.push({ key, ...answer });
    }
  }
  return answers;
}

function whyNoJson(content: Uint8Array): string | undefined {
  return isJson(content) ? undefined : 'is not JSON, and an expression looks into it';
}

function badValue(message: string): NonNullable<BlobAnswer['problem']> {
  return { code: 'bad_value', message };
}

function look(
  content: Uint8Array,
  { path, isLength }: BlobQuestion,
  { bytesMax, utf8 }: { readonly bytesMax: number; readonly utf8: Utf8 },
): Omit<BlobAnswer, 'key'> {
  const into = new JsonWriter(bytesMax);
  const source = { range: wholeValue(content, 0, content.length), used: 0 };
  const part = valuePart({ root: '', path, isLength, source: '' }, true, utf8);
  try {
    writePath(source, part, { utf8, into });
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const message = 'the values that expressions take from blobs are too large';
    return { problem: { code: error.code, message: `${message}: ${error.message}` } };
  }
  if (depthOf(into.bytes, into.length) > DEPTH_MAX) {
    return { problem: badValue(`a value in a blob has more than ${DEPTH_MAX} levels`) };
  }
  const text = utf8.decode(into.bytes.subarray(0, into.length));
  return { value: JSON.stringify(JSON.parse(text)) };
}
