import { BlockList, isIP } from 'node:net';
import { isRange } from '../base/address-range.ts';

/**
 * Ranges that no callback goes to. They lead to this machine, its network, or a service that trusts
 * every client that can reach it. Whole ranges that embed IPv4 addresses are included, because
 * routers elsewhere decide where they lead.
 */
const SPECIAL_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by customers of a carrier
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, and metadata of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];

/** Ranges within 2000::/3. No address outside 2000::/3 is public. */
const SPECIAL_IPV6 = [
  '2001::/23', // protocol assignments, Teredo and ORCHID among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the former 6bone
  '3fff::/20', // documentation
];

const PUBLIC_IPV6 = '2000::/3';

/** The metadata service of one cloud, at an address that looks like any other. */
const METADATA = ['168.63.129.16/32'];

/** Decides which addresses may be called. */
export class AddressGuard {
  private readonly special = blockList([...SPECIAL_IPV4, ...SPECIAL_IPV6, ...METADATA]);
  private readonly publicIpv6 = blockList([PUBLIC_IPV6]);
  private readonly allowed: BlockList;
  private readonly hosts: ReadonlySet<string>;

  /** `allow` lists ranges, addresses and names that may be called despite the rules above. */
  constructor(allow: readonly string[]) {
    this.allowed = blockList(allow.filter(isRange));
    this.hosts = new Set(allow.filter((each) => !isRange(each)).map((name) => name.toLowerCase()));
  }

  /** Whether a receiver with this name may be called, whatever address it resolves to. */
  allowsHost(name: string): boolean {
    return this.hosts.has(name.toLowerCase());
  }

  allowsAddress(address: string): boolean {
    // A zone names an interface of this machine, so such an address is never public.
    const family = address.includes('%') ? 0 : isIP(address);
    if (family === 0) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (this.allowed.check(address, type)) return true;
    if (family === 6 && !this.publicIpv6.check(address, type)) return false;
    return !this.special.check(address, type);
  }
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address, length] = range.split('/');
    const [type, whole] = isIP(address) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
    list.addSubnet(address, length === undefined ? whole : Number(length), type);
  }
  return list;
}
