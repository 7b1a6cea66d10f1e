import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exec } from '@sluice/protocol';
import type { AttemptFolder } from '../host/work-folder.ts';
import { outputValue } from '../logic/output-value.ts';
import { type BlobServer, download, readInside, type StoredFile, upload } from './blob-transfer.ts';
import { refusal } from './refusal.ts';

/** A longer result belongs into a file of `outputs`. */
const RESULT_BYTES_MAX = 16 * 2 ** 20;

interface FileRights {
  readonly mode: number;
  /** Undefined to stay with the agent. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Writes the files of a task into its scratch folder. */
export async function addFiles(
  blobs: BlobServer,
  folder: string,
  files: NonNullable<Exec['files']>,
  { mode, owner }: FileRights,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    if (typeof content === 'string') await writeFile(path, content);
    else await download(blobs, content.blob, path);
    await chmod(path, mode);
    if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  }
}

/** The output of a task whose program succeeded. */
export async function outputOf(
  blobs: BlobServer,
  folder: AttemptFolder,
  { outputs }: Pick<Exec, 'outputs'>,
  lastLine: string,
): Promise<unknown> {
  const value = readValue(await resultText(folder), lastLine);
  if (outputs === undefined) return value;
  const stored: Record<string, StoredFile> = {};
  for (const [name, path] of Object.entries(outputs)) {
    stored[name] = await upload(blobs, folder.work, path);
  }
  return { result: value, outputs: stored };
}

/** A link in place of the result would make the agent read what the program may not. */
async function resultText({ io, result }: AttemptFolder): Promise<string | undefined> {
  const content = await readInside(io, result.slice(io.length + 1), RESULT_BYTES_MAX);
  return content?.toString();
}

function readValue(resultFile: string | undefined, lastLine: string): unknown {
  try {
    return outputValue({ resultFile, lastLine });
  } catch (cause) {
    const why = (cause as Error).message;
    throw refusal('result_not_json', `the result file is not JSON: ${why}`);
  }
}
