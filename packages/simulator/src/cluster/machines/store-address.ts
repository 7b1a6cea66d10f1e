import type { StoreAddress } from '@sluice/postgres';
import type { SimProcess } from '../../kernel/sim-process.ts';
import type { SimDatabase } from '../database/sim-database.ts';
import { SimDriver } from '../database/sim-driver.ts';
import { type ClusterNetwork, DATABASE } from '../wires/cluster-network.ts';

interface Database {
  readonly database: SimDatabase;
  readonly network: ClusterNetwork;
}

interface Caller {
  readonly host: string;
  readonly process: SimProcess;
  readonly hear: (run: () => void) => void;
}

/** The store as a process reaches it over the network. */
export function storeAddressOf(
  { database, network }: Database,
  { host, process, hear }: Caller,
): StoreAddress {
  const makeClient = (name: string) => {
    const back = network.pipe(DATABASE, host);
    const wire = {
      host: process.name,
      toDatabase: network.pipe(host, DATABASE),
      toClient: (run: () => void) => back(() => process.alive && hear(run)),
    };
    return new SimDriver(database, wire, name) as never;
  };
  return { url: '', schema: 'sluice', shown: 'the simulated database', makeClient };
}
