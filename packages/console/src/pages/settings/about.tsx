/** What the namespace uses of its quotas, and what the server is. */
import type { Answer } from '../../base/api.ts';
import { VOLATILE } from '../../base/live.ts';
import { useApi } from '../../base/queries.ts';
import { bytes, count, words } from '../../base/words.ts';
import { Bar, ErrorNote, Facts, Loading, Panel, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';

type Cluster = Answer<'GET /v1/cluster'>;

export function AboutView() {
  const { data, error } = useApi('GET /v1/cluster', {}, { meta: VOLATILE });
  if (data === undefined) return error === null ? <Loading /> : <ErrorNote error={error} />;
  return (
    <>
      <div className="columns">
        <Quotas quotas={data.quotas ?? {}} />
        <About data={data} />
      </div>
      {data.store === undefined ? null : <Servers store={data.store} />}
    </>
  );
}

function Quotas({ quotas }: { readonly quotas: NonNullable<Cluster['quotas']> }) {
  return (
    <Panel title="Quotas of this namespace">
      <ul className="quotas">
        {Object.entries(quotas).map(([name, { used, max }]) => (
          <li key={name}>
            <span>{quotaName(name)}</span>
            <span className="number muted">
              {amount(name, used)} of {amount(name, max)}
            </span>
            <Bar
              used={used}
              max={max}
              label={`${quotaName(name)}: ${amount(name, used)} of ${amount(name, max)}`}
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function About({ data }: { readonly data: Cluster }) {
  const { projection, disk, memory, blobs, partitions } = data;
  return (
    <Panel title="About the server">
      <Facts
        items={[
          ['Version', data.version],
          [
            'Licences of the console',
            <a key="l" href="/licences.txt">
              of its packages
            </a>,
          ],
          [
            'Commit',
            data.commit === undefined ? 'unknown' : <code key="c">{data.commit.slice(0, 12)}</code>,
          ],
          ['Started', <Time key="s" at={data.startedAt} />],
          [
            'Partitions',
            partitions.map(({ partition, state }) => `${partition}: ${state}`).join(', '),
          ],
          [
            'Log',
            partitions
              .map(({ log }) =>
                log === undefined ? '' : `${log.engine}, ${count(log.position)} records`,
              )
              .join(', '),
          ],
          ['Search and history', `${words(projection.state)}, ${projection.lagMs} ms behind`],
          ...(projection.bytes === undefined
            ? []
            : [['Records', bytes(projection.bytes)] as const]),
          ...(blobs === undefined
            ? []
            : [['Blobs', `${count(blobs.count)}, ${bytes(blobs.bytes)}`] as const]),
          ...(disk === undefined
            ? []
            : [['Disk', `${bytes(disk.freeBytes)} free of ${bytes(disk.totalBytes)}`] as const]),
          ...(memory === undefined ? [] : [['Memory', bytes(memory.residentBytes)] as const]),
        ]}
      />
    </Panel>
  );
}

const DURABILITY = {
  synchronous: 'every commit waits for a replica',
  storage: 'the storage of the database is replicated',
  single: 'one machine: what was acknowledged last is lost with it',
} as const satisfies Record<NonNullable<Cluster['store']>['durability'], string>;

/** The servers that share a database. */
function Servers({ store }: { readonly store: NonNullable<Cluster['store']> }) {
  return (
    <Panel title="Servers">
      <p className="muted">
        Level {store.level}. Database: {DURABILITY[store.durability]}.
      </p>
      <ScrollArea className="table-scroll" label="Table of servers">
        <table>
          <thead>
            <tr>
              <th>Server</th>
              <th>Role</th>
              <th>Version</th>
              <th className="number">Records behind</th>
              <th className="number">Seen</th>
            </tr>
          </thead>
          <tbody>
            {store.servers.map(({ url, role, version, behindRecords, seenMsAgo }) => (
              <tr key={url}>
                <td>{url}</td>
                <td>{role}</td>
                <td>{version}</td>
                <td className="number">{count(behindRecords)}</td>
                <td className="number">{(seenMsAgo / 1000).toFixed(0)} s ago</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea>
    </Panel>
  );
}

/** `payloadBytesMax` as `payload bytes`. */
function quotaName(name: string): string {
  return name.replace(/Max$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function amount(name: string, value: number): string {
  return name.includes('Bytes') ? bytes(value) : count(value);
}
