import type { Mutant } from './mutant.ts';

const HOLD_RULES = 'server/src/membership/hold-rules.ts';
const MEMBERSHIP = 'server/src/membership/membership.ts';
const STATEMENTS = 'postgres/src/log/log-statements.ts';
const FORWARDER = 'server/src/forwarding/forwarder.ts';

/** Bugs between several servers, looked for in worlds that all have them. */
const MUTANTS: readonly Mutant[] = [
  {
    name: 'tail-read-before-the-fence',
    file: 'engine/src/recovery.ts',
    find: `  const hold = await log.acquire();
  const { partition, reached, replayedBytes } = followed;`,
    replace: `  const hold = { ...(await log.acquire()), tail: followed.reached };
  const { partition, reached, replayedBytes } = followed;`,
    what: 'The tail is read after the claim: here the last batches of the owner before are missed.',
  },
  {
    name: 'judged-by-a-select',
    file: STATEMENTS,
    find: "return `UPDATE ${this.#names.table('partition')} SET judged = judged + 1",
    replace: "return `SELECT 1 FROM ${this.#names.table('partition')}",
    what: 'What says durable is written (postgres.written-word): here no replica is waited for.',
  },
  {
    name: 'term-counts-from-the-answer',
    file: HOLD_RULES,
    find: `      this.monotonicAt = monotonic;
      this.wallAt = wall;`,
    replace: `      this.monotonicAt = Math.max(monotonic, this.clocks.monotonic());
      this.wallAt = Math.max(wall, this.clocks.wall());`,
    what: 'A term counts from the sending of a renewal: here from its answer.',
  },
  {
    name: 'silence-is-not-watched',
    file: HOLD_RULES,
    find: 'return hold.isExpired && now - this.since >= HOLD_MS;',
    replace: 'return hold.isExpired && now >= this.since;',
    what: 'A claim follows five seconds of silence: here the clock of the database is enough.',
  },
  {
    name: 'free-lock-is-enough',
    file: MEMBERSHIP,
    find: '    if (await isGone(address, runId)) return true;',
    replace: "    if (runId !== '' || (await isGone(address, runId))) return true;",
    what: 'A free lock says nothing about a process that lives: here it is claimed from.',
  },
  {
    name: 'dropped-name-is-used-again',
    file: 'postgres/src/schema/table-names.ts',
    find: 'return `${this.schema}.log_${partition}_${number}`;',
    replace: 'return `${this.schema}.log_${partition}_${number % 8}`;',
    what: 'A dropped name is not used again: here a late drop takes a table that is in use.',
  },
  {
    name: 'epoch-is-given-twice',
    file: 'postgres/src/hold/hold-ttl.ts',
    find: "'greatest(epoch + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)'",
    replace: "'epoch + 1'",
    what: 'An epoch is given once: here again, when the database went back to before its claim.',
  },
  {
    name: 'request-takes-a-second-hop',
    file: FORWARDER,
    find: `    if (hop === 'forged') return;
    throw notOwner();`,
    replace: `    if (hop === 'forged' || typeof hop === 'object') return;
    throw notOwner();`,
    what: 'A forwarded request is not forwarded again (hop.one): here it is.',
  },
  {
    name: 'unrepeatable-request-is-repeated',
    file: FORWARDER,
    find: 'return Buffer.isBuffer(body) && isDeduped(body, isKnown);',
    replace: 'return Buffer.isBuffer(body) && (body.length > 0 || isDeduped(body, isKnown));',
    what: 'What may have been executed is repeated only with keys: here also without.',
  },
  {
    name: 'mark-of-an-old-owner-counts',
    file: 'server/src/projection/postgres/postgres-mark.ts',
    find: `
      WHERE known.position <= excluded.position`,
    replace: '',
    what: 'The mark of the projection never goes back: here an owner of before sets it back.',
  },
  {
    name: 'level-is-ignored',
    file: 'server/src/servers/cluster-server.ts',
    find: '    host.level = this.level;\n',
    replace: '',
    what: 'Nothing above the level is written (level.waits): here a newer version does it.',
  },
];

export const CLUSTER_MUTANTS: readonly Mutant[] = MUTANTS.map((each) => ({
  ...each,
  inCluster: true,
}));
