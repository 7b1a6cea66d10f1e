import { SluiceError } from '@sluice/protocol';
import type { BlobHolder } from './blob-store.ts';

/** A blob that a request names, and in which field. */
export interface NamedBlob {
  /** As a JSON pointer. */
  readonly path: string;
  readonly sha256: string;
}

/** The blobs that the field `name` of these values names. The values are not validated yet. */
export function blobsNamedIn(
  values: readonly unknown[],
  name: 'inputBlob' | 'outputBlob',
  pathOf: (index: number) => string,
): NamedBlob[] {
  const named: NamedBlob[] = [];
  for (let index = 0; index < values.length; index++) {
    const sha256 = (values[index] as Readonly<Record<string, unknown>> | null)?.[name];
    if (typeof sha256 === 'string') named.push({ path: `${pathOf(index)}/${name}`, sha256 });
  }
  return named;
}

/** The blobs that the files of commands are. The tasks are not validated yet. */
export function blobsOfFiles(
  tasks: readonly unknown[],
  pathOf: (index: number) => string,
): NamedBlob[] {
  const named: NamedBlob[] = [];
  for (let index = 0; index < tasks.length; index++) {
    const { exec } = (tasks[index] ?? {}) as { readonly exec?: { readonly files?: unknown } };
    const files = exec?.files;
    if (typeof files !== 'object' || files === null) continue;
    for (const [name, content] of Object.entries(files)) {
      const { blob } = (content ?? {}) as { readonly blob?: unknown };
      if (typeof blob !== 'string') continue;
      named.push({ path: `${pathOf(index)}/exec/files/${name}/blob`, sha256: blob });
    }
  }
  return named;
}

/**
 * Runs an action that makes tasks name blobs. The blobs are held until it is done
 * (blobs.named-exists).
 */
export function withBlobs<T>(
  blobs: BlobHolder,
  namespace: string,
  named: readonly NamedBlob[],
  act: () => Promise<T>,
): Promise<T> {
  // Most requests name no blob and need no hold.
  return named.length === 0 ? act() : actHolding(blobs, namespace, named, act);
}

async function actHolding<T>(
  blobs: BlobHolder,
  namespace: string,
  named: readonly NamedBlob[],
  act: () => Promise<T>,
): Promise<T> {
  const hashes = named.map(({ sha256 }) => sha256);
  const { missing, release } = await blobs.hold(namespace, hashes);
  try {
    if (missing.size > 0) throw notFound(named.filter(({ sha256 }) => missing.has(sha256)));
    return await act();
  } finally {
    release();
  }
}

function notFound(missing: readonly NamedBlob[]): SluiceError {
  const problem = 'names a blob that does not exist; upload it first';
  const details = missing.map(({ path }) => ({ path, problem }));
  const [{ path, sha256 }] = missing;
  const message = `${path} ${problem}: ${sha256}`;
  return new SluiceError('blob_not_found', message, { details });
}
