/** What happens now, and what needs somebody. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSeesServer } from '../../base/caller.tsx';
import { VOLATILE } from '../../base/live.ts';
import { useApi } from '../../base/queries.ts';
import { bytes, duration, plural, shortCount } from '../../base/words.ts';
import { Chart, type Series } from '../../ui/charts.tsx';
import { PageHead, Panel } from '../../ui/parts.tsx';
import { StateShape } from '../../ui/state-badge.tsx';
import { attentionOf } from './attention.ts';
import { LatestPanel } from './latest.tsx';
import { type Point, useStats, type Window } from './use-stats.ts';

export function OverviewPage() {
  const seesServer = useSeesServer();
  const [window, setWindow] = useState<Window>('10m');
  const points = useStats(window, seesServer);
  return (
    <>
      <PageHead title="Overview" />
      <div className="stack">
        <Figures last={points.at(-2) ?? points.at(-1)} isPerSecond={window === '10m'} />
        <AttentionPanel />
        {seesServer && <Charts points={points} window={window} onWindow={setWindow} />}
        <div className="columns">
          <LatestPanel />
          <HealthPanel />
        </div>
      </div>
    </>
  );
}

function Figures({
  last,
  isPerSecond,
}: {
  readonly last: Point | undefined;
  readonly isPerSecond: boolean;
}) {
  const { data: queues } = useApi('GET /v1/queues', { query: { limit: 1000 } }, { meta: VOLATILE });
  const { data: workers } = useApi(
    'GET /v1/workers',
    { query: { limit: 1000 } },
    { meta: VOLATILE },
  );
  const all = queues?.items ?? [];
  const sum = (pick: (queue: (typeof all)[number]) => number) =>
    all.reduce((total, queue) => total + pick(queue), 0);
  const slots = (workers?.items ?? []).reduce(
    (total, { capacity }) => total + (capacity.slots ?? 0),
    0,
  );
  const used = (workers?.items ?? []).reduce((total, { used: use }) => total + (use.slots ?? 0), 0);
  const latency = isPerSecond ? last?.latencyMs : undefined;
  const figures: readonly (readonly [string, string, string])[] = [
    ['In', shortCount(sum(({ inPerSec }) => inPerSec)), 'tasks per second'],
    ['Out', shortCount(sum(({ outPerSec }) => outPerSec)), 'tasks per second'],
    ['Running', shortCount(sum(({ leased }) => leased)), 'held by workers'],
    ['Waiting', shortCount(sum(({ depth }) => depth)), 'ready in queues'],
    ['Dead letters', shortCount(sum(({ deadLetters }) => deadLetters)), 'failed for good'],
    [
      'Workers',
      shortCount(workers?.items.length ?? 0),
      `${shortCount(used)} of ${shortCount(slots)} slots in use`,
    ],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value, note]) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd className="note-line muted small">{note}</dd>
        </div>
      ))}
      {latency !== undefined && latency.p99 !== null && (
        <div className="figure">
          <dt>Submit to end</dt>
          <dd>{duration(latency.p50 ?? 0)}</dd>
          <dd className="note-line muted small">p99 {duration(latency.p99)}</dd>
        </div>
      )}
    </dl>
  );
}

const WINDOWS: Readonly<Record<Window, string>> = {
  '10m': '10 minutes',
  '24h': '24 hours',
  '30d': '30 days',
};

const SPANS: Readonly<Record<Window, number>> = {
  '10m': 600_000,
  '24h': 86_400_000,
  '30d': 2_592_000_000,
};

interface ChartsProps {
  readonly points: readonly Point[];
  readonly window: Window;
  readonly onWindow: (window: Window) => void;
}

function Charts({ points, window, onWindow }: ChartsProps) {
  const times = points.map(({ at }) => Date.parse(at));
  const unit = { '10m': 'second', '24h': 'minute', '30d': 'hour' }[window];
  const flow: Series[] = [
    { name: 'in', colour: 'c-muted', values: points.map((point) => point.in) },
    { name: 'out', colour: 'c-accent', values: points.map((point) => point.out) },
    { name: 'failed', colour: 'c-bad', values: points.map((point) => point.failed) },
  ];
  const level = (from: number, to: number) =>
    points.map(({ depth }) => depth.slice(from, to + 1).reduce((sum, each) => sum + each, 0));
  const depth: Series[] = [
    { name: 'priority 6 to 8', colour: 'c-accent', values: level(6, 8) },
    { name: '3 to 5', colour: 'c-middle', values: level(3, 5) },
    { name: '0 to 2', colour: 'c-low', values: level(0, 2) },
  ];
  const choice = (
    <select
      aria-label="Time shown"
      value={window}
      onChange={(event) => onWindow(event.target.value as Window)}
    >
      {Object.entries(WINDOWS).map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  );
  return (
    <div className="columns">
      <Panel title={`Tasks per ${unit}`} aside={choice}>
        <Chart label={`Tasks per ${unit}`} times={times} spanMs={SPANS[window]} series={flow} />
      </Panel>
      <Panel title="Waiting by priority">
        <Chart
          label="Waiting tasks by priority"
          times={times}
          spanMs={SPANS[window]}
          series={depth}
          isStacked
        />
      </Panel>
    </div>
  );
}

function AttentionPanel() {
  const queues = useApi('GET /v1/queues', { query: { limit: 1000 } }, { meta: VOLATILE });
  const workers = useApi('GET /v1/workers', { query: { limit: 1000 } }, { meta: VOLATILE });
  const schedules = useApi('GET /v1/schedules', { query: { limit: 200, state: 'active' } });
  const given = useApi('GET /v1/callbacks', { query: { state: 'given_up', limit: 100 } });
  const cluster = useApi('GET /v1/cluster', {}, { meta: VOLATILE });
  if (queues.data === undefined) return null;
  const items = attentionOf({
    queues: queues.data.items,
    workers: workers.data?.items ?? [],
    schedules: schedules.data?.items ?? [],
    undelivered: given.data?.items.length ?? 0,
    cluster: cluster.data,
  });
  return (
    <Panel title="Needs attention">
      {items.length === 0 ? (
        <p className="state" data-tone="good">
          <StateShape state="succeeded" />
          Nothing. No dead letters, no stuck queues, no lost workers.
        </p>
      ) : (
        <ul className="attention">
          {items.map(({ text, tone, to, action, search }) => (
            <li key={text}>
              <span className="state" data-tone={tone}>
                <StateShape state={tone === 'bad' ? 'failed' : 'blocked'} />
                {text}
              </span>
              <Link to={to} search={search ?? {}}>
                {action}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function HealthPanel() {
  const { data: cluster } = useApi('GET /v1/cluster', {}, { meta: VOLATILE });
  if (cluster === undefined) return null;
  const { projection, disk, memory, partitions, clock } = cluster;
  const rows: (readonly [string, boolean, string])[] = [
    [
      'Log',
      partitions.every(({ state, log }) => state === 'ok' && log?.isFull !== true),
      logText(partitions),
    ],
    ['Search and history', projection.state === 'ok', `${projection.lagMs} ms behind`],
  ];
  if (disk !== undefined) {
    const isFine = disk.freeBytes / disk.totalBytes > 0.1;
    rows.push(['Disk', isFine, `${bytes(disk.freeBytes)} of ${bytes(disk.totalBytes)} free`]);
  }
  if (memory !== undefined) rows.push(['Memory', true, `${bytes(memory.residentBytes)} in use`]);
  if (clock !== undefined)
    rows.push(['Clock', clock.state === 'ok', `${clock.wallAheadMs} ms off`]);
  return (
    <Panel title="Server" aside={<span className="muted small">version {cluster.version}</span>}>
      <ul className="attention">
        {rows.map(([name, isFine, text]) => (
          <li key={name}>
            <span className="state" data-tone={isFine ? 'good' : 'bad'}>
              <StateShape state={isFine ? 'succeeded' : 'failed'} />
              {name}
            </span>
            <span className="muted push number">{text}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function logText(partitions: readonly { readonly log?: { readonly position: number } }[]): string {
  const records = partitions.reduce((sum, { log }) => sum + (log?.position ?? 0), 0);
  return records === 0 ? 'writes' : plural(records, 'record');
}
