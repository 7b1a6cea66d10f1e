import { execFileSync } from 'node:child_process';

/** Where the network below has its addresses. No route leads out of it. */
const SUBNET = '10.77.0';
const DATABASE = `${SUBNET}.9`;

/** What is cut between a host and others, until it is healed. */
export type Cut = 'gone' | 'to-database' | 'from-database' | 'to-others';

/**
 * Machines in network namespaces: a hub with a database and clients, and hosts around it. The
 * hub has no way out, so that nothing that runs in it can reach another network.
 *
 * - `gone`: nothing passes between the host and anybody.
 * - `to-database`, `from-database`: one direction between the host and the database is cut.
 * - `to-others`: the host reaches the database and clients, but no other host.
 */
export class TestHosts {
  readonly hub: string;
  /** In the hub. */
  readonly databaseHost = DATABASE;
  readonly hosts: readonly string[];

  private constructor(hub: string, hosts: readonly string[]) {
    this.hub = hub;
    this.hosts = hosts;
  }

  /** Names are for the user of this process: the caller has to remove the namespaces. */
  static create(count: number): TestHosts {
    const hub = `sluice-hub-${process.pid}`;
    const names = Array.from({ length: count }, (_, n) => `sluice-host-${process.pid}-${n}`);
    const hosts = new TestHosts(hub, names);
    for (const name of [hub, ...names]) ip('netns', 'add', name);
    for (const name of [hub, ...names]) ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', hub, 'link', 'add', 'hub', 'type', 'bridge');
    ip('-n', hub, 'addr', 'add', `${SUBNET}.1/24`, 'dev', 'hub');
    ip('-n', hub, 'addr', 'add', `${DATABASE}/24`, 'dev', 'hub');
    ip('-n', hub, 'link', 'set', 'hub', 'up');
    for (const name of names) hosts.connect(name);
    return hosts;
  }

  /** The hub and hosts that another process made. */
  static named(hub: string, hosts: readonly string[]): TestHosts {
    return new TestHosts(hub, hosts);
  }

  addressOf(host: string): string {
    return `${SUBNET}.${10 + this.hosts.indexOf(host)}`;
  }

  cut(host: string, cut: Cut): void {
    for (const args of this.commands(host, cut, 'add')) ip(...args);
  }

  heal(host: string, cut: Cut): void {
    for (const args of this.commands(host, cut, 'del')) ip(...args);
  }

  remove(): void {
    for (const name of [this.hub, ...this.hosts]) ip('netns', 'del', name);
  }

  private commands(host: string, cut: Cut, change: 'add' | 'del'): string[][] {
    const address = this.addressOf(host);
    if (cut === 'gone') {
      return [['-n', this.hub, 'link', 'set', this.portOf(host), change === 'add' ? 'down' : 'up']];
    }
    if (cut === 'to-database') {
      return [['-n', host, 'route', change, 'blackhole', DATABASE]];
    }
    if (cut === 'from-database') {
      const rule = ['from', DATABASE, 'to', address, 'blackhole'];
      return [['-n', this.hub, 'rule', change, ...rule]];
    }
    const others = this.hosts.filter((each) => each !== host);
    return others.map((each) => ['-n', host, 'route', change, 'blackhole', this.addressOf(each)]);
  }

  private connect(host: string): void {
    const port = this.portOf(host);
    const peer = ['peer', 'name', 'eth0', 'netns', host];
    ip('link', 'add', 'name', port, 'netns', this.hub, 'type', 'veth', ...peer);
    ip('-n', this.hub, 'link', 'set', port, 'master', 'hub', 'up');
    ip('-n', host, 'addr', 'add', `${this.addressOf(host)}/24`, 'dev', 'eth0');
    ip('-n', host, 'link', 'set', 'eth0', 'up');
  }

  private portOf(host: string): string {
    return `port${this.hosts.indexOf(host)}`;
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
