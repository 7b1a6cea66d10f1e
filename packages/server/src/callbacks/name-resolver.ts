import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

const HOSTS_FILE = '/etc/hosts';

/** Timeout per query, and tries per name server. */
const QUERY_MS = 2000;
const QUERIES = 2;

/** Every address of a name; none when the name does not exist or cannot be resolved. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/**
 * Asks the hosts file and then DNS, without Node's shared thread pool: a name server that does not
 * answer would block its threads, and with them the writes of the log.
 */
export function nameResolver(servers: readonly string[]): ResolveName {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: QUERIES });
  if (servers.length > 0) resolver.setServers(servers);
  return async (name) => {
    const bare = name.toLowerCase().replace(/\.$/, '');
    if (bare === 'localhost' || bare.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const fixed = addressesIn(await readFile(HOSTS_FILE, 'utf8').catch(() => ''), bare);
    if (fixed.length > 0) return fixed;
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** The addresses of a name in a hosts file. */
export function addressesIn(hosts: string, name: string): string[] {
  return hosts.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const isMeant = names.some((each) => each.toLowerCase() === name);
    return isMeant && isIP(address) !== 0 ? [address] : [];
  });
}
