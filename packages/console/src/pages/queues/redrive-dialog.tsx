/** Runs dead letters again at a rate, or discards them. It counts them first. */
import type { RedriveRequest } from '@sluice/protocol';
import { useState } from 'react';
import type { Static } from 'typebox';
import { STILL } from '../../base/live.ts';
import { useAction, useApi } from '../../base/queries.ts';
import { plural } from '../../base/words.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote, Field } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';

export type Filter = NonNullable<Static<typeof RedriveRequest>['filter']>;

interface RedriveProps {
  readonly what: 'redrive' | 'discard';
  readonly filter: Filter;
  readonly onClose: () => void;
}

export function RedriveDialog({ what, filter, onClose }: RedriveProps) {
  return what === 'redrive' ? (
    <Redrive filter={filter} onClose={onClose} />
  ) : (
    <Discard filter={filter} onClose={onClose} />
  );
}

type DialogProps = Pick<RedriveProps, 'filter' | 'onClose'>;

function Redrive({ filter, onClose }: DialogProps) {
  const [rate, setRate] = useState('100');
  const counted = useApi(
    'POST /v1/dead-letters/redrive',
    { body: { filter, dryRun: true } },
    { meta: STILL },
  );
  const redrive = useAction('POST /v1/dead-letters/redrive');
  const tasks = counted.data?.count;
  const isGroup = filter.fingerprint !== undefined;
  const act = () => {
    const body = { filter, ratePerSec: Number(rate) };
    const onSuccess = () => {
      notify(`Redriving ${plural(tasks ?? 0, 'task')}`);
      onClose();
    };
    redrive.mutate({ body }, { onSuccess });
  };
  return (
    <Confirm
      title="Run dead letters again?"
      action={tasks === undefined ? 'Counting …' : `Redrive ${plural(tasks, 'task')}`}
      isBusy={redrive.isPending}
      isBlocked={tasks === undefined || tasks === 0 || !(Number(rate) > 0)}
      onClose={onClose}
      onConfirm={act}
    >
      <p>
        {tasks === undefined
          ? 'Counting …'
          : `${plural(tasks, 'task')} will run again, with attempts from 1.`}
      </p>
      <Field
        label="Tasks per second"
        hint={
          isGroup
            ? 'Spares what they failed on. They leave this page, and each waits for its time.'
            : 'Spares what they failed on. The redrive goes on after a restart.'
        }
      >
        <input
          type="number"
          min={0.001}
          step="any"
          value={rate}
          onChange={(event) => setRate(event.target.value)}
        />
      </Field>
      <ErrorNote error={redrive.error ?? counted.error} />
    </Confirm>
  );
}

function Discard({ filter, onClose }: DialogProps) {
  const counted = useApi(
    'POST /v1/dead-letters/discard',
    { body: { filter, dryRun: true } },
    { meta: STILL },
  );
  const discard = useAction('POST /v1/dead-letters/discard');
  const tasks = counted.data?.matched;
  const onSuccess = () => {
    notify(`Discarded ${plural(tasks ?? 0, 'task')}`);
    onClose();
  };
  return (
    <Confirm
      title="Discard dead letters?"
      action={tasks === undefined ? 'Counting …' : `Discard ${plural(tasks, 'task')}`}
      danger
      isBusy={discard.isPending}
      isBlocked={tasks === undefined || tasks === 0}
      onClose={onClose}
      onConfirm={() => discard.mutate({ body: { filter } }, { onSuccess })}
    >
      <p>
        They stay failed and are no dead letters any more. They can still be retried one by one.
      </p>
      <ErrorNote error={discard.error ?? counted.error} />
    </Confirm>
  );
}
