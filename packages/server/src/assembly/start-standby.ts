import { join } from 'node:path';
import { type PostgresLog, PostgresSnapshots, type StoreAddress } from '@sluice/postgres';
import { Standby, type StandbyOptions } from '../membership/standby.ts';
import type { ServerOptions } from './server-options.ts';
import { partitionOptions, partitionPorts } from './server-parts.ts';

interface FollowedStore {
  readonly options: ServerOptions;
  readonly address: StoreAddress;
  readonly reader: PostgresLog;
  /** For files that nobody needs later. */
  readonly scratch: string;
}

/** Follows the log of a store. */
export function startStandby(
  { options, address, reader, scratch }: FollowedStore,
  given: Pick<StandbyOptions, 'committed' | 'onWentBack' | 'onTrouble'>,
): Standby {
  let opened: Promise<PostgresSnapshots> | undefined;
  const snapshots = () => {
    const scratchFolder = join(scratch, 'standby');
    // A folder that cannot be made is tried again.
    opened ??= PostgresSnapshots.open({ address, scratchFolder }).catch((cause: Error) => {
      opened = undefined;
      throw cause;
    });
    return opened;
  };
  return new Standby({
    ...given,
    follower: {
      log: reader,
      snapshots: {
        positions: async () => (await snapshots()).positions(),
        open: async (position) => (await snapshots()).open(position),
        save: async () => {
          throw new Error('a standby saves nothing');
        },
      },
      partition: { ...partitionOptions(options), ...partitionPorts() },
      notify: () => undefined,
    },
    close: async () => (await opened)?.close(),
  });
}
