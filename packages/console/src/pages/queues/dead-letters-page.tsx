/** Tasks that failed for good, grouped by their error, and what to do about them. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Item } from '../../base/api.ts';
import { useMay } from '../../base/caller.tsx';
import { useAction, useApi } from '../../base/queries.ts';
import { count, plural } from '../../base/words.ts';
import { Bars } from '../../ui/charts.tsx';
import { visible } from '../../ui/json-text.ts';
import {
  Button,
  Empty,
  ErrorNote,
  Field,
  Loading,
  PageHead,
  Panel,
  Time,
} from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { type Filter, RedriveDialog } from './redrive-dialog.tsx';

type Group = Item<'GET /v1/dead-letters/groups'>;

interface Doing {
  readonly what: 'redrive' | 'discard';
  readonly filter: Filter;
}

export function DeadLettersPage() {
  const { type } = useSearch({ from: '/dead-letters' });
  const [doing, setDoing] = useState<Doing>();
  const may = useMay('operate');
  const { data, error } = useApi('GET /v1/dead-letters/groups', { query: { type } });
  const total =
    (data?.items ?? []).reduce((sum, group) => sum + group.count, 0) + (data?.others ?? 0);
  const filter = type === undefined ? {} : { type };
  return (
    <>
      <PageHead
        title="Dead letters"
        under={<span>Tasks that failed or timed out for good, by error</span>}
      >
        {may && total > 0 && (
          <>
            <Button kind="danger" onClick={() => setDoing({ what: 'discard', filter })}>
              Discard all …
            </Button>
            <Button kind="primary" onClick={() => setDoing({ what: 'redrive', filter })}>
              Redrive all …
            </Button>
          </>
        )}
      </PageHead>
      <TypeFilter type={type} />
      <div className="stack">
        <ErrorNote error={error} />
        <Redrives />
        {data === undefined && error === null && <Loading />}
        {data !== undefined && data.items.length === 0 && (
          <div className="panel">
            <Empty title="No dead letters">
              Tasks that have failed in all their attempts, or timed out, would wait here until
              somebody redrives or discards them.
            </Empty>
          </div>
        )}
        {data !== undefined && data.items.length > 0 && (
          <Groups groups={data.items} others={data.others} onDo={may ? setDoing : undefined} />
        )}
      </div>
      {doing !== undefined && <RedriveDialog {...doing} onClose={() => setDoing(undefined)} />}
    </>
  );
}

function TypeFilter({ type }: { readonly type: string | undefined }) {
  const navigate = useNavigate();
  const queues = useApi('GET /v1/queues', { query: { limit: 1000 } });
  const types = (queues.data?.items ?? []).filter(({ deadLetters }) => deadLetters > 0);
  if (types.length < 2 && type === undefined) return null;
  return (
    <div className="filters">
      <Field label="Type">
        <select
          value={type ?? ''}
          onChange={(event) =>
            void navigate({
              to: '/dead-letters',
              search: { type: event.target.value || undefined },
            })
          }
        >
          <option value="">all</option>
          {types.map((queue) => (
            <option key={queue.type}>{queue.type}</option>
          ))}
        </select>
      </Field>
    </div>
  );
}

interface GroupsProps {
  readonly groups: readonly Group[];
  readonly others: number;
  readonly onDo: ((doing: Doing) => void) | undefined;
}

function Groups({ groups, others, onDo }: GroupsProps) {
  return (
    <ScrollArea className="panel table-scroll" label="Table of errors">
      <table>
        <thead>
          <tr>
            <th>Error</th>
            <th>Type</th>
            <th className="number">Tasks</th>
            <th>Last 24 hours</th>
            <th>First</th>
            <th>Last</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => {
            const { fingerprint, type } = group;
            const filter = { type, fingerprint };
            return (
              <tr key={`${fingerprint}${type}`}>
                <td className="clip wide">
                  <Link
                    to="/tasks/$id"
                    params={{ id: group.taskId }}
                    title={visible(group.message)}
                  >
                    {visible(group.message.slice(0, 200)) || '(no message)'}
                  </Link>
                </td>
                <td>{type}</td>
                <td className="number">{count(group.count)}</td>
                <td className="spark">
                  <GroupTimes counts={group.endedByHour} />
                </td>
                <td className="nowrap">
                  <Time at={group.firstEndedAt} ago />
                </td>
                <td className="nowrap">
                  <Time at={group.lastEndedAt} ago />
                </td>
                <td>
                  {onDo !== undefined && (
                    <div className="row nowrap-row">
                      <Button size="small" onClick={() => onDo({ what: 'redrive', filter })}>
                        Redrive
                      </Button>
                      <Button
                        size="small"
                        kind="danger"
                        onClick={() => onDo({ what: 'discard', filter })}
                      >
                        Discard
                      </Button>
                    </div>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {others > 0 && <p className="more muted">and {plural(others, 'task')} with other errors</p>}
    </ScrollArea>
  );
}

/** Redrives that go on at their rate. */
function Redrives() {
  const { data } = useApi('GET /v1/dead-letters/redrives', { query: { limit: 50 } });
  const stop = useAction('DELETE /v1/dead-letters/redrives/{id}');
  const may = useMay('operate');
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Panel title="Running redrives">
      <ul className="attention">
        {data.items.map(({ id, type, ratePerSec, done }) => (
          <li key={id}>
            <span>
              {type ?? 'all types'}: {plural(done, 'task')} so far, {ratePerSec} per second
            </span>
            {may && (
              <Button size="small" onClick={() => stop.mutate({ params: { id } })}>
                Stop
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** When the tasks of a group ended, by hour. */
function GroupTimes({ counts }: { readonly counts: readonly number[] }) {
  const titles = counts.map(
    (each, index) => `${counts.length - index} h ago: ${plural(each, 'task')}`,
  );
  return (
    <Bars values={counts} titles={titles} label={`In the last 24 hours: ${counts.join(', ')}`} />
  );
}
