import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { LIMITS } from '@sluice/protocol/limits';
import { refusal } from './refusal.ts';

/** Where blobs are. */
export interface BlobServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface StoredFile {
  readonly blob: string;
  readonly bytes: number;
}

/** Writes a blob into a file. */
export async function download(server: BlobServer, sha256: string, path: string): Promise<void> {
  const answer = await fetch(`${server.url}/v1/blobs/${sha256}`, { headers: server.headers });
  if (answer.status === 404) throw refusal('blob_not_found', `the blob ${sha256} does not exist`);
  if (!answer.ok) throw new Error(`cannot read the blob ${sha256}: HTTP ${answer.status}`);
  await writeFile(path, new Uint8Array(await answer.arrayBuffer()));
}

/**
 * Uploads a file of the scratch folder. A link that leads out of the folder is refused: a program
 * could otherwise make the agent read what the program itself may not.
 */
export async function upload(
  server: BlobServer,
  folder: string,
  path: string,
): Promise<StoredFile> {
  const content = await readInside(folder, path, LIMITS.blobBytesMax);
  if (content === undefined) {
    throw refusal('output_missing', `there is no file ${path}, which outputs names`);
  }
  const blob = createHash('sha256').update(content).digest('hex');
  const answer = await fetch(`${server.url}/v1/blobs/${blob}`, {
    method: 'PUT',
    headers: { ...server.headers, 'content-type': 'application/octet-stream' },
    body: content,
  });
  if (answer.ok) return { blob, bytes: content.length };
  throw new Error(`cannot store the output ${path}: HTTP ${answer.status} ${await answer.text()}`);
}

/**
 * Reads a file below a folder; undefined when there is none. Neither a link out of the folder nor a
 * pipe is read.
 */
export async function readInside(
  folder: string,
  path: string,
  bytesMax: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const real = await realpath(join(folder, path)).catch(() => undefined);
  if (real === undefined) return undefined;
  if (!real.startsWith(`${await realpath(folder)}${sep}`)) {
    throw refusal('output_outside', `${path} is a link that leads out of its folder`);
  }
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refusal('output_missing', `${path} is not a file`);
    if (stats.size > bytesMax) {
      const problem = `has ${stats.size} bytes; at most ${bytesMax} are allowed`;
      throw refusal('output_too_large', `the output ${path} ${problem}`);
    }
    return (await file.readFile()) as Buffer<ArrayBuffer>;
  } finally {
    await file.close();
  }
}
