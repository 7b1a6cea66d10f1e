import { join } from 'node:path';
import { type CreateAccessKey, DEFAULT_NAMESPACE } from '@sluice/core';
import { executeOnce } from '@sluice/engine';
import { FileLog, FileSnapshots } from '@sluice/log';
import { KeyRequest } from '@sluice/protocol';
import { UTF8 } from '../base/utf8.ts';
import { Checker } from '../base/validation.ts';
import { type LimitSettings, partitionLimits } from '../limits/partition-limits.ts';
import { detailOf } from './key.route.ts';
import { createCommand, creationRefused, viewOfKey } from './key-operations.ts';
import { makeKey } from './key-text.ts';

export interface FolderOfKeys {
  readonly dataFolder: string;
  readonly partition: number;
  /** The settings that the server runs with: what it stores must fit them. */
  readonly limits: LimitSettings['limits'];
  readonly quotas: LimitSettings['quotas'];
}

/**
 * Creates a key in the data folder of a server that does not run: the first key of a server that
 * others can reach, or a key for an admin who lost theirs. Write access to the folder is enough.
 * Returns what `POST /v1/keys` would.
 */
export async function createKeyIn(
  { dataFolder, partition, limits, quotas }: FolderOfKeys,
  request: unknown,
): Promise<object> {
  const wanted = new Checker(KeyRequest).parse(request, 'the key is not valid');
  const now = Date.now();
  const key = makeKey(now);
  const command = createCommand(DEFAULT_NAMESPACE, wanted, key);
  const by = {
    actor: 'data-folder',
    address: '',
    request: '',
    subject: key.id,
    detail: detailOf(wanted),
  };
  const log = await FileLog.open({ folder: join(dataFolder, 'log') });
  try {
    const resting = {
      log,
      extent: log.extent,
      snapshots: await FileSnapshots.open(join(dataFolder, 'snapshots')),
      partition: { partition, limits: partitionLimits({ limits, quotas }), utf8: UTF8 },
      clock: () => now,
      nonce: Math.floor(Math.random() * 2 ** 53),
    };
    return await executeOnce<CreateAccessKey, object>(
      resting,
      { ...command, by },
      ({ rejection }, { accessKeys }) => {
        const made = accessKeys.get(key.id);
        if (rejection !== undefined) throw creationRefused(rejection, wanted);
        return { key: key.text, ...(made === undefined ? {} : viewOfKey(made, { now })) };
      },
    );
  } finally {
    await log.close();
  }
}
