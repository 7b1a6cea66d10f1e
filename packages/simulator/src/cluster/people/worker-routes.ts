import type { RandomStream } from '../../kernel/random.ts';
import type { SimProcess } from '../../kernel/sim-process.ts';
import type { Simulation } from '../../kernel/simulation.ts';
import type { ClientSide, ExchangeRequest } from '../../network/exchange.ts';
import type { Network } from '../../network/network.ts';
import type { Exchanges, WireExchange } from '../wires/exchange.ts';

/** The network as workers of the SDK use it: each asks one server, and another when that fails. */
export class WorkerRoutes implements Pick<Network, 'request' | 'clientGone'> {
  private readonly exchanges: Exchanges;
  private readonly servers: readonly string[];
  private readonly random: RandomStream;
  private readonly chosen = new Map<string, number>();
  private readonly open = new Map<SimProcess, Set<WireExchange>>();

  constructor(simulation: Simulation, exchanges: Exchanges, servers: readonly string[]) {
    this.exchanges = exchanges;
    this.servers = servers;
    this.random = simulation.random('worker routes');
  }

  request(from: SimProcess, request: ExchangeRequest, client: ClientSide): () => void {
    const at = this.chosen.get(from.name) ?? this.random.integer(0, this.servers.length - 1);
    this.chosen.set(from.name, at);
    const party = { host: from.name, hear: (run: () => void) => from.hear(run) };
    const all = this.open.get(from) ?? new Set();
    this.open.set(from, all);
    let status = 0;
    const wired = { ...request, headers: { 'sim-request': '' } };
    const exchange = this.exchanges.ask(party, this.servers[at], wired, {
      connected: () => exchange.send(),
      head: (given) => {
        status = given;
        client.head(given);
      },
      bytes: (chunk) => client.bytes(chunk),
      ended: (how) => {
        all.delete(exchange);
        if (how !== 'whole' || status >= 500) {
          this.chosen.set(from.name, (at + 1) % this.servers.length);
        }
        client.ended(how === 'whole' ? 'whole' : 'broken');
      },
    });
    all.add(exchange);
    return () => exchange.abandon();
  }

  clientGone(process: SimProcess): void {
    for (const exchange of this.open.get(process) ?? []) exchange.abandon();
    this.open.delete(process);
  }
}
