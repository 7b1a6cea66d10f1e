import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type BlobAnswer, lookIntoBlobs } from '@sluice/core';
import { UTF8 } from '../base/utf8.ts';
import type { ScriptQuestion } from './script-messages.ts';

/** Answers what a step asks of blobs. `source` has the path of the file of each blob. */
export function lookAt({ source, input = '[]' }: ScriptQuestion, onLook: () => void): BlobAnswer[] {
  const paths = JSON.parse(source) as Readonly<Record<string, string>>;
  const read = (sha256: string): Uint8Array | string => readBlob(paths[sha256], sha256);
  return lookIntoBlobs(JSON.parse(input) as string[], { read, onLook, utf8: UTF8 });
}

/** The content, or why there is none. */
function readBlob(path: string, sha256: string): Uint8Array | string {
  let content: Uint8Array;
  try {
    content = readFileSync(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'does not exist any more' : `cannot be read (${code})`;
  }
  const isSound = createHash('sha256').update(content).digest('hex') === sha256;
  return isSound ? content : 'was damaged on the disk';
}
