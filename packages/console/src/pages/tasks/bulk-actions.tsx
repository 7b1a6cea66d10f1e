/** Actions on many tasks. Each says how many it is about before it acts. */
import type { CancelTasksRequest } from '@sluice/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, type ApiError, api } from '../../base/api.ts';
import { STILL } from '../../base/live.ts';
import { useApi } from '../../base/queries.ts';
import { plural } from '../../base/words.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Button, ErrorNote } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';
import type { TaskRow } from './task-columns.tsx';
import type { TaskSearch } from './task-filters.tsx';

const ENDED = ['succeeded', 'failed', 'timed_out', 'expired', 'cancelled'];
/** The API's limit for calls about many tasks. */
const IDS_MAX = 1000;

type What = 'cancel' | 'retry';
type Doing = What | 'matching';

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
  // What is shown has ended, so there is nothing to cancel, but to retry.
  const what = search.state !== undefined && ENDED.includes(search.state) ? 'retry' : 'cancel';
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
        <Button kind={what === 'cancel' ? 'danger' : 'plain'} onClick={() => setDoing('matching')}>
          {what === 'cancel' ? 'Cancel' : 'Retry'} all that match …
        </Button>
      )}
      {doing === 'retry' && <Each tasks={again} what="retry" onClose={close} onDone={onDone} />}
      {doing === 'cancel' && <Each tasks={open} what="cancel" onClose={close} onDone={onDone} />}
      {doing === 'matching' && filter !== undefined && (
        <Matching what={what} filter={filter} onClose={close} onDone={onDone} />
      )}
    </div>
  );
}

type Filter = NonNullable<CancelTasksRequest['filter']>;

/** The filter of the page as the call takes it; undefined if it has no such filter. */
function filterOf({ type, state, tag, since, until, q, parent }: TaskSearch): Filter | undefined {
  // A text is no filter of the call, so the count would be another one than on the page.
  if (q !== undefined || state === 'succeeded') return undefined;
  const [name, ...value] = (tag ?? '').split('=');
  const tags = name === '' ? undefined : { [name]: value.join('=') };
  const fields = Object.entries({ type, state, since, until, parentId: parent, tags });
  const given = fields.filter(([, field]) => field !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Filter);
}

interface EachProps {
  readonly tasks: readonly TaskRow[];
  readonly what: What;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Each({ tasks, what, onClose, onDone }: EachProps) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const act = async () => {
    setBusy(true);
    const failed: string[] = [];
    const call = what === 'retry' ? 'POST /v1/tasks/retry' : 'POST /v1/tasks/cancel';
    for (let from = 0; from < tasks.length; from += IDS_MAX) {
      const ids = tasks.slice(from, from + IDS_MAX).map(({ id }) => id);
      await api(call, { body: { ids } }).then(
        (answer) => failed.push(...problemsIn(answer)),
        (error: ApiError) => failed.push(error.message),
      );
    }
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

/** What was refused of a call about many tasks. */
function problemsIn(answer: Answer<'POST /v1/tasks/retry' | 'POST /v1/tasks/cancel'>): string[] {
  if (!('items' in answer)) return [];
  return answer.items.flatMap((item) =>
    'error' in item ? `${item.id}: ${item.error.message}` : [],
  );
}

interface MatchingProps {
  readonly what: What;
  readonly filter: Filter;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const MATCHING = {
  cancel: { call: 'POST /v1/tasks/cancel', name: 'Cancel', done: 'Cancelled', kind: 'open task' },
  retry: { call: 'POST /v1/tasks/retry', name: 'Retry', done: 'Retried', kind: 'ended task' },
} as const;

function Matching({ what, filter, onClose, onDone }: MatchingProps) {
  const { call, name, done, kind } = MATCHING[what];
  const counted = useApi(call, { body: { filter, dryRun: true } }, { meta: STILL });
  const client = useQueryClient();
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const matched =
    counted.data !== undefined && 'matched' in counted.data ? counted.data.matched : undefined;
  const act = async () => {
    setBusy(true);
    try {
      await api(call, { body: { filter } });
      notify(`${done} ${plural(matched ?? 0, 'task')}`);
      await client.invalidateQueries();
      onDone();
      onClose();
    } catch (cause) {
      setError(cause as ApiError);
      setBusy(false);
    }
  };
  return (
    <Confirm
      title={`${name} all ${kind}s that match?`}
      action={matched === undefined ? 'Counting …' : `${name} ${plural(matched, 'task')}`}
      danger={what === 'cancel'}
      isBusy={isBusy}
      isBlocked={matched === undefined || matched === 0}
      onClose={onClose}
      onConfirm={() => void act()}
    >
      <p>
        {matched === undefined
          ? 'Counting …'
          : `${plural(matched, kind)} match the filter of the page.`}
      </p>
      <ErrorNote error={error ?? counted.error} />
    </Confirm>
  );
}
