import { readFileSync } from 'node:fs';
import type { CommandIo } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';

/** Where the store is. Its password must not be in the list of processes. */
export const STORE_FLAGS = {
  store: { value: 'ADDRESS', help: 'postgres://USER@HOST:PORT/DATABASE?schema=NAME' },
  'store-file': { value: 'FILE', help: 'file with the address, which may have a password' },
} as const;

export interface StoreFlags {
  readonly store?: string;
  readonly 'store-file'?: string;
}

const WITH_PASSWORD = /^[^:]+:\/\/[^:@/]*:[^@]*@|password=/;

/** From the flags, or from SLUICE_STORE. */
export function addressOfStore(flags: StoreFlags, { env }: Pick<CommandIo, 'env'>): string {
  const { store } = flags;
  const file = flags['store-file'];
  if (store !== undefined && WITH_PASSWORD.test(store)) {
    throw new UsageError(
      'the password in --store would be visible in the list of processes; ' +
        'use --store-file FILE or SLUICE_STORE',
    );
  }
  if (file !== undefined) return read(file);
  const address = store ?? env.SLUICE_STORE;
  if (address === undefined || address === '') {
    throw new UsageError('say where the store is: --store, --store-file or SLUICE_STORE');
  }
  return address;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new UsageError(`cannot read --store-file: ${(cause as Error).message}`, { cause });
  }
}
