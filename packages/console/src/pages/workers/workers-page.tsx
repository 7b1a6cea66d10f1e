/** Workers: what each offers, what of it is reserved, and what runs there. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Item } from '../../base/api.ts';
import { useMay } from '../../base/caller.tsx';
import { VOLATILE } from '../../base/live.ts';
import { useAction, useList } from '../../base/queries.ts';
import { count, plural, shortCount } from '../../base/words.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Button, Empty, ErrorNote, Loading, PageHead, Panel, Tags, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { StateShape } from '../../ui/state-badge.tsx';
import { HeatLegend, HeatMap } from './heat-map.tsx';

export type Worker = Item<'GET /v1/workers'>;

export function WorkersPage() {
  const list = useList('GET /v1/workers', {}, { limit: 500, meta: VOLATILE });
  return (
    <>
      <PageHead title="Workers" under={<span>{plural(list.items.length, 'worker')} · live</span>} />
      <ErrorNote error={list.error} />
      {list.isPending && <Loading />}
      {list.isSuccess && list.items.length === 0 && <NoWorkers />}
      {list.items.length > 0 && (
        <div className="stack">
          <Panel title="Reserved and used" aside={<HeatLegend />} flush>
            <HeatMap workers={list.items} />
          </Panel>
          <WorkerTable workers={list.items} />
        </div>
      )}
    </>
  );
}

function WorkerTable({ workers }: { readonly workers: readonly Worker[] }) {
  const [draining, setDraining] = useState<Worker>();
  const may = useMay('operate');
  return (
    <ScrollArea className="panel table-scroll" label="Table of workers">
      <table>
        <thead>
          <tr>
            <th>Worker</th>
            <th>State</th>
            <th>Version</th>
            <th className="number">Slots</th>
            <th>Types</th>
            <th>Labels</th>
            <th>Heard</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.id}>
              <td className="nowrap" title={worker.id}>
                {worker.name}
              </td>
              <td>
                <WorkerState worker={worker} />
              </td>
              <td>{worker.version === '' ? '–' : worker.version}</td>
              <td className="number nowrap">
                {count(worker.used.slots ?? 0)} / {shortCount(worker.capacity.slots ?? 0)}
              </td>
              <td className="worker-types">
                <Types worker={worker} />
              </td>
              <td>
                <Tags tags={worker.labels} />
              </td>
              <td className="nowrap">
                <Time at={worker.heardAt} ago />
              </td>
              <td>
                {may && !worker.draining && (
                  <Button
                    size="small"
                    aria-label={`Drain ${worker.name}`}
                    onClick={() => setDraining(worker)}
                  >
                    Drain
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {draining !== undefined && (
        <DrainDialog worker={draining} onClose={() => setDraining(undefined)} />
      )}
    </ScrollArea>
  );
}

function WorkerState({ worker }: { readonly worker: Worker }) {
  const [shape, text, tone] = worker.connected
    ? worker.draining
      ? (['paused', 'draining', 'warn'] as const)
      : (['active', 'connected', 'good'] as const)
    : (['failed', 'lost', 'bad'] as const);
  return (
    <span className="state" data-tone={tone}>
      <StateShape state={shape} />
      {text}
    </span>
  );
}

/** Types that the worker runs, with what runs there now. */
function Types({ worker }: { readonly worker: Worker }) {
  return (
    <span className="row">
      {worker.types.map(({ type, leased }) => (
        <Link key={type} to="/tasks" search={{ type, state: 'running' }} className="tag">
          {type}
          {leased > 0 && <b>{leased}</b>}
        </Link>
      ))}
    </span>
  );
}

function DrainDialog({
  worker,
  onClose,
}: {
  readonly worker: Worker;
  readonly onClose: () => void;
}) {
  const drain = useAction('POST /v1/workers/{id}/drain');
  return (
    <Confirm
      title={`Drain ${worker.name}?`}
      action="Drain the worker"
      isBusy={drain.isPending}
      onClose={onClose}
      onConfirm={() => drain.mutate({ params: { id: worker.id } }, { onSuccess: onClose })}
    >
      <p>
        It gets no new tasks and finishes the {plural(worker.used.slots ?? 0, 'task')} that it
        holds.
      </p>
      <ErrorNote error={drain.error} />
    </Confirm>
  );
}

function NoWorkers() {
  return (
    <div className="panel">
      <Empty
        title="No workers are connected"
        lines={[
          [
            'TypeScript',
            `await new Sluice().work([defineTask({ type: 'hello', run: async ({ name }) => 'Hello ' + name })])`,
          ],
          ['An agent for commands', 'npx sluice agent --allow-commands'],
        ]}
      >
        A worker opens one long connection, says which types it runs and what capacity it has, and
        gets tasks pushed.
      </Empty>
    </div>
  );
}
