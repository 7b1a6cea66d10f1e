/** Actions on many tasks. Each says how many it is about before it acts. */
import type { CancelTasksRequest } from '@sluice/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, api } from '../../base/api.ts';
import { STILL } from '../../base/live.ts';
import { useApi } from '../../base/queries.ts';
import { plural } from '../../base/words.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Button, ErrorNote } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';
import type { TaskRow } from './task-columns.tsx';
import type { TaskSearch } from './task-filters.tsx';

const ENDED = ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'];
const AT_ONCE = 4;

type Doing = 'cancel' | 'retry' | 'cancel-all';

interface BulkProps {
  readonly chosen: readonly TaskRow[];
  readonly search: TaskSearch;
  readonly onDone: () => void;
}

export function BulkActions({ chosen, search, onDone }: BulkProps) {
  const [doing, setDoing] = useState<Doing>();
  const open = chosen.filter(({ state }) => !ENDED.includes(state));
  const again = chosen.filter(({ state }) => ENDED.includes(state) && state !== 'succeeded');
  const filter = filterOf(search);
  const close = () => setDoing(undefined);
  return (
    <div className="row">
      {chosen.length > 0 && <span className="muted">{plural(chosen.length, 'task')} chosen</span>}
      {again.length > 0 && <Button onClick={() => setDoing('retry')}>Retry {again.length}</Button>}
      {open.length > 0 && (
        <Button kind="danger" onClick={() => setDoing('cancel')}>
          Cancel {open.length}
        </Button>
      )}
      {chosen.length === 0 && filter !== undefined && (
        <Button kind="danger" onClick={() => setDoing('cancel-all')}>
          Cancel all that match …
        </Button>
      )}
      {doing === 'retry' && <Each tasks={again} what="retry" onClose={close} onDone={onDone} />}
      {doing === 'cancel' && <Each tasks={open} what="cancel" onClose={close} onDone={onDone} />}
      {doing === 'cancel-all' && filter !== undefined && (
        <CancelMatching filter={filter} onClose={close} onDone={onDone} />
      )}
    </div>
  );
}

type Filter = NonNullable<CancelTasksRequest['filter']>;

/** The filter of the page as the call takes it; undefined if it has no such filter. */
function filterOf({ type, state, tag, since, until, q, parent }: TaskSearch): Filter | undefined {
  // A text is no filter of the call, so the count would be another one than on the page.
  if (q !== undefined || (state !== undefined && ENDED.includes(state))) return undefined;
  const [name, ...value] = (tag ?? '').split('=');
  const tags = name === '' ? undefined : { [name]: value.join('=') };
  const fields = Object.entries({ type, state, since, until, parentId: parent, tags });
  const given = fields.filter(([, field]) => field !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Filter);
}

interface EachProps {
  readonly tasks: readonly TaskRow[];
  readonly what: 'retry' | 'cancel';
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Each({ tasks, what, onClose, onDone }: EachProps) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const act = async () => {
    setBusy(true);
    const pending = [...tasks];
    const failed: string[] = [];
    const work = async () => {
      for (let task = pending.pop(); task !== undefined; task = pending.pop()) {
        const { id } = task;
        const call = what === 'retry' ? 'POST /v1/tasks/{id}/retry' : 'POST /v1/tasks/{id}/cancel';
        await api(call, { params: { id }, body: {} }).catch((error: ApiError) => {
          failed.push(`${id}: ${error.message}`);
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setBusy(false);
    await client.invalidateQueries();
    onDone();
    if (failed.length > 0) return setProblems(failed);
    notify(`${what === 'retry' ? 'Retried' : 'Cancelled'} ${plural(tasks.length, 'task')}`);
    onClose();
  };
  const name = what === 'retry' ? 'Retry' : 'Cancel';
  return (
    <Confirm
      title={`${name} ${plural(tasks.length, 'task')}?`}
      action={`${name} ${plural(tasks.length, 'task')}`}
      danger={what === 'cancel'}
      isBusy={isBusy}
      isBlocked={problems.length > 0}
      onClose={onClose}
      onConfirm={() => void act()}
    >
      <p>
        {what === 'retry'
          ? 'They run again under the same ids, with attempts from 1. Their history is kept.'
          : 'Waiting tasks end at once. Workers that run one of them are told to stop.'}
      </p>
      {problems.length > 0 && (
        <ul className="note" data-tone="bad">
          {problems.slice(0, 10).map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </Confirm>
  );
}

interface MatchingProps {
  readonly filter: Filter;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function CancelMatching({ filter, onClose, onDone }: MatchingProps) {
  const body = { filter, dryRun: true };
  const counted = useApi('POST /v1/tasks/cancel', { body }, { meta: STILL });
  const client = useQueryClient();
  const [error, setError] = useState<ApiError | null>(null);
  const matched =
    counted.data !== undefined && 'matched' in counted.data ? counted.data.matched : undefined;
  const act = async () => {
    try {
      await api('POST /v1/tasks/cancel', { body: { filter } });
      notify(`Cancelled ${plural(matched ?? 0, 'task')}`);
      await client.invalidateQueries();
      onDone();
      onClose();
    } catch (cause) {
      setError(cause as ApiError);
    }
  };
  return (
    <Confirm
      title="Cancel all open tasks that match?"
      action={matched === undefined ? 'Counting …' : `Cancel ${plural(matched, 'task')}`}
      danger
      isBlocked={matched === undefined || matched === 0}
      onClose={onClose}
      onConfirm={() => void act()}
    >
      <p>
        {matched === undefined
          ? 'Counting …'
          : `${plural(matched, 'open task')} match the filter of the page.`}
      </p>
      <ErrorNote error={error ?? counted.error} />
    </Confirm>
  );
}
