/** Queues: how much waits, how fast it moves, and when it would be done. */
import { Link } from '@tanstack/react-router';
import type { Item } from '../../base/api.ts';
import { useMay } from '../../base/caller.tsx';
import { VOLATILE } from '../../base/live.ts';
import { useAction, useList } from '../../base/queries.ts';
import { count, duration, plural, shortCount } from '../../base/words.ts';
import { Bars } from '../../ui/charts.tsx';
import { Button, Empty, ErrorNote, Loading, PageHead } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';

type Queue = Item<'GET /v1/queues'>;

export function QueuesPage() {
  const list = useList('GET /v1/queues', {}, { limit: 500, meta: VOLATILE });
  return (
    <>
      <PageHead title="Queues" under={<span>One for each task type · live</span>} />
      <ErrorNote error={list.error} />
      {list.isPending && <Loading />}
      {list.isSuccess && list.items.length === 0 && (
        <div className="panel">
          <Empty
            title="No queues yet"
            lines={[['Submit a task', `npx sluice task submit hello --input '{"name":"Ada"}'`]]}
          >
            A queue exists as soon as a task of its type was submitted or a worker runs the type.
          </Empty>
        </div>
      )}
      {list.items.length > 0 && (
        <ScrollArea className="panel table-scroll" label="Table of queues">
          <table>
            <thead>
              <tr>
                <th>Queue</th>
                <th>State</th>
                <th className="number">Waiting</th>
                <th>Priority 0 to 8</th>
                <th className="number">Oldest</th>
                <th className="number">Running</th>
                <th className="number">In / s</th>
                <th className="number">Out / s</th>
                <th className="number">Drained in</th>
                <th className="number">Workers</th>
                <th className="number">Dead letters</th>
                <th>
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.items.map((queue) => (
                <QueueRow key={queue.type} queue={queue} />
              ))}
            </tbody>
          </table>
        </ScrollArea>
      )}
    </>
  );
}

function QueueRow({ queue }: { readonly queue: Queue }) {
  const { type } = queue;
  return (
    <tr>
      <td className="clip">
        <Link to="/tasks" search={{ type }}>
          {type}
        </Link>
      </td>
      <td>
        <StateBadge state={queue.paused ? 'paused' : 'active'} />
      </td>
      <td className="number">{count(queue.depth)}</td>
      <td className="spark">
        <Bars
          values={queue.depthByPriority}
          titles={queue.depthByPriority.map((depth, level) => `priority ${level}: ${count(depth)}`)}
          label={`Waiting by priority: ${queue.depthByPriority.join(', ')}`}
        />
      </td>
      <td className="number nowrap">
        {queue.oldestAgeMs === null ? '–' : duration(queue.oldestAgeMs)}
      </td>
      <td className="number">{count(queue.leased)}</td>
      <td className="number">{shortCount(queue.inPerSec)}</td>
      <td className="number">{shortCount(queue.outPerSec)}</td>
      <td className="number nowrap">{drainText(queue)}</td>
      <td className="number">{count(queue.workers)}</td>
      <td className="number">
        {queue.deadLetters === 0 ? (
          '0'
        ) : (
          <Link to="/dead-letters" search={{ type }}>
            {count(queue.deadLetters)}
          </Link>
        )}
      </td>
      <td>
        <PauseButton queue={queue} />
      </td>
    </tr>
  );
}

/** When the queue is empty at the present rates. */
function drainText({ depth, inPerSec, outPerSec, paused }: Queue): string {
  if (depth === 0) return '–';
  const rate = outPerSec - inPerSec;
  return paused || rate <= 0 ? 'never' : duration((depth / rate) * 1000);
}

function PauseButton({ queue }: { readonly queue: Queue }) {
  const may = useMay('operate');
  const patch = useAction('PATCH /v1/queues/{type}');
  if (!may) return null;
  const { type, paused } = queue;
  const name = paused ? 'Resume' : 'Pause';
  return (
    <Button
      size="small"
      aria-label={`${name} ${type}`}
      title={paused ? '' : `${plural(queue.leased, 'running task')} go on`}
      onClick={() => patch.mutate({ params: { type }, body: { paused: !paused } })}
    >
      {name}
    </Button>
  );
}
