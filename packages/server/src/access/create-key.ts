import { join } from 'node:path';
import { type CreateAccessKey, DEFAULT_NAMESPACE } from '@sluice/core';
import { executeOnce } from '@sluice/engine';
import {
  FileLog,
  FileSnapshots,
  type LogExtent,
  type PartitionLog,
  type SnapshotStore,
} from '@sluice/log';
import { KeyRequest } from '@sluice/protocol';
import { UTF8 } from '../base/utf8.ts';
import { Checker } from '../base/validation.ts';
import { type LimitSettings, partitionLimits } from '../limits/partition-limits.ts';
import { detailOf } from './key.route.ts';
import { createCommand, creationRefused, viewOfKey } from './key-operations.ts';
import { makeKey } from './key-text.ts';

/** The partition of a server that does not run. */
export interface PlaceOfKeys {
  readonly log: PartitionLog;
  readonly extent?: LogExtent;
  readonly snapshots: SnapshotStore;
  readonly partition: number;
  /** The settings that the server runs with: what it stores must fit them. */
  readonly limits: LimitSettings['limits'];
  readonly quotas: LimitSettings['quotas'];
}

export interface FolderOfKeys extends Omit<PlaceOfKeys, 'log' | 'extent' | 'snapshots'> {
  readonly dataFolder: string;
}

/**
 * Creates a key in the data folder of a server that does not run: the first key of a server that
 * others can reach, or a key for an admin who lost theirs. Write access to the folder is enough.
 * Returns what `POST /v1/keys` would.
 */
export async function createKeyIn(folder: FolderOfKeys, request: unknown): Promise<object> {
  const { dataFolder } = folder;
  const log = await FileLog.open({ folder: join(dataFolder, 'log') });
  try {
    const snapshots = await FileSnapshots.open(join(dataFolder, 'snapshots'));
    const place = { ...folder, log, extent: log.extent, snapshots };
    return await createKeyAt(place, request, 'data-folder');
  } finally {
    await log.close();
  }
}

/** `actor` is the author in the audit trail. */
export async function createKeyAt(
  place: PlaceOfKeys,
  request: unknown,
  actor: string,
): Promise<object> {
  const wanted = new Checker(KeyRequest).parse(request, 'the key is not valid');
  const now = Date.now();
  const key = makeKey(now);
  const command = createCommand(DEFAULT_NAMESPACE, wanted, key);
  const by = {
    actor,
    address: '',
    request: '',
    subject: key.id,
    detail: detailOf(wanted),
  };
  const { log, extent, snapshots, partition, limits, quotas } = place;
  const resting = {
    ...{ log, snapshots },
    ...(extent && { extent }),
    partition: { partition, limits: partitionLimits({ limits, quotas }), utf8: UTF8 },
    clock: () => now,
    nonce: Math.floor(Math.random() * 2 ** 53),
  };
  return executeOnce<CreateAccessKey, object>(
    resting,
    { ...command, by },
    ({ rejection }, { accessKeys }) => {
      const made = accessKeys.get(key.id);
      if (rejection !== undefined) throw creationRefused(rejection, wanted);
      return { key: key.text, ...(made === undefined ? {} : viewOfKey(made, { now })) };
    },
  );
}
