/** Fires a schedule for times of the past. It counts them first. */
import { useState } from 'react';
import { STILL } from '../../base/live.ts';
import { useAction, useApi } from '../../base/queries.ts';
import { plural } from '../../base/words.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote, Field } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';

const DAY_MS = 86_400_000;

export function BackfillDialog({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}) {
  const [from, setFrom] = useState(() => local(Date.now() - DAY_MS));
  const [to, setTo] = useState(() => local(Date.now()));
  const [rate, setRate] = useState('10');
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  const body = { ...range, ratePerSec: Number(rate) };
  const counted = useApi(
    'POST /v1/schedules/{id}/backfill',
    { params: { id }, body: { ...body, dryRun: true } },
    { meta: STILL },
  );
  const backfill = useAction('POST /v1/schedules/{id}/backfill');
  const count = counted.data?.count ?? 0;
  const start = () => {
    const onSuccess = () => {
      notify(`Backfilling ${plural(count, 'time')}`);
      onClose();
    };
    backfill.mutate({ params: { id }, body }, { onSuccess });
  };
  return (
    <Confirm
      title={`Backfill ${id}`}
      action={`Fire ${plural(count, 'time')}`}
      isBusy={backfill.isPending}
      isBlocked={count === 0}
      onClose={onClose}
      onConfirm={start}
    >
      <div className="filters">
        <Field label="From">
          <input
            type="datetime-local"
            value={from}
            onChange={(event) => setFrom(event.target.value || from)}
          />
        </Field>
        <Field label="To">
          <input
            type="datetime-local"
            value={to}
            onChange={(event) => setTo(event.target.value || to)}
          />
        </Field>
        <Field label="Fires per second">
          <input
            type="number"
            min={0.001}
            max={1000}
            step="any"
            value={rate}
            onChange={(event) => setRate(event.target.value || '1')}
          />
        </Field>
      </div>
      <p>
        {counted.data?.isComplete === false ? 'More than ' : ''}
        {plural(count, 'time')} in this range.
      </p>
      <ErrorNote error={backfill.error ?? counted.error} />
    </Confirm>
  );
}

function local(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
