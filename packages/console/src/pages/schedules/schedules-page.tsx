/** Schedules: what fires when, and what it made last. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../base/caller.tsx';
import { useList } from '../../base/queries.ts';
import { count, words } from '../../base/words.ts';
import { Button, Empty, ErrorNote, Field, Loading, PageHead, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';
import { Density } from './density.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { madeOf, type Schedule, specWords } from './spec-words.ts';

const STATES = ['active', 'paused', 'completed'];

export function SchedulesPage() {
  const search = useSearch({ from: '/schedules' });
  const list = useList('GET /v1/schedules', { query: search }, { limit: 100 });
  const [isCreating, setCreating] = useState(false);
  const mayOperate = useMay('operate');
  const isFiltered = Object.keys(search).length > 0;
  const isEmpty = list.isSuccess && list.items.length === 0;
  return (
    <>
      <PageHead title="Schedules">
        {mayOperate && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            Create a schedule
          </Button>
        )}
      </PageHead>
      <div className="stack">
        {(!isEmpty || isFiltered) && <Density />}
        {(!isEmpty || isFiltered) && <Filters search={search} />}
        <ErrorNote error={list.error} />
        {list.isPending && <Loading />}
        {isEmpty && <NoSchedules isFiltered={isFiltered} />}
        {list.items.length > 0 && (
          <div className="panel">
            <ScheduleTable items={list.items} />
            {list.hasNextPage && (
              <div className="more">
                <Button size="small" onClick={() => void list.fetchNextPage()}>
                  Load more
                </Button>
              </div>
            )}
          </div>
        )}
      </div>
      {isCreating && <ScheduleForm onClose={() => setCreating(false)} />}
    </>
  );
}

function ScheduleTable({ items }: { readonly items: readonly Schedule[] }) {
  return (
    <ScrollArea className="table-scroll" label="Table of schedules">
      <table>
        <thead>
          <tr>
            <th>State</th>
            <th>Schedule</th>
            <th>When</th>
            <th>Makes</th>
            <th>Next</th>
            <th>Last</th>
            <th className="number">Fires</th>
            <th className="number">Skipped</th>
          </tr>
        </thead>
        <tbody>
          {items.map((schedule) => (
            <tr key={schedule.id}>
              <td>
                <StateBadge state={schedule.state} />
              </td>
              <td className="clip">
                <Link to="/schedules/$id" params={{ id: schedule.id }}>
                  {schedule.id}
                </Link>
              </td>
              <td>{specWords(schedule.spec)}</td>
              <td className="clip muted">{madeOf(schedule)}</td>
              <td className="nowrap">
                <Time at={schedule.nextFireAt} ago />
              </td>
              <td className="nowrap">
                <Time at={schedule.lastFireAt} ago />
              </td>
              <td className="number">{count(schedule.fireCount)}</td>
              <td
                className="number"
                title={schedule.lastSkip === null ? '' : words(schedule.lastSkip.reason)}
              >
                {count(schedule.skipCount)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

interface ScheduleSearch {
  readonly q?: string;
  readonly state?: string;
}

function Filters({ search }: { readonly search: ScheduleSearch }) {
  const navigate = useNavigate();
  const set = (change: ScheduleSearch) =>
    void navigate({ to: '/schedules', search: { ...search, ...change }, replace: true });
  return (
    <search className="filters">
      <Field label="Name">
        <input
          type="search"
          value={search.q ?? ''}
          onChange={(event) => set({ q: event.target.value || undefined })}
        />
      </Field>
      <Field label="State">
        <select
          value={search.state ?? ''}
          onChange={(event) => set({ state: event.target.value || undefined })}
        >
          <option value="">any</option>
          {STATES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
      </Field>
    </search>
  );
}

function NoSchedules({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <div className="panel">
      {isFiltered ? (
        <Empty title="No schedule matches">Take a filter away.</Empty>
      ) : (
        <Empty
          title="No schedules yet"
          lines={[
            ['Command line', `npx sluice schedule put nightly --cron '0 3 * * *' --type report`],
            [
              'curl',
              `curl -X PUT ${window.location.origin}/v1/schedules/nightly -d '{"spec":{"cron":"0 3 * * *"},"task":{"type":"report"}}'`,
            ],
          ]}
        >
          A schedule submits a task or starts a run: at times of a cron pattern, in an interval,
          once, or always a number of them at once.
        </Empty>
      )}
    </div>
  );
}
