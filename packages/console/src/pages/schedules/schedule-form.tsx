/** Creates or changes a schedule. The server says while one types when it would fire. */
import type { ScheduleRequest } from '@sluice/protocol';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useDeferredValue, useState } from 'react';
import { STILL } from '../../base/live.ts';
import { useAction, useApi } from '../../base/queries.ts';
import { localTime } from '../../base/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonField, parsedJson } from '../../ui/json-field.tsx';
import { Button, ErrorNote, Field } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';
import { cronWords } from './cron-words.ts';
import type { Schedule } from './spec-words.ts';

interface Draft {
  readonly id: string;
  readonly kind: 'cron' | 'every';
  readonly cron: string;
  readonly timeZone: string;
  readonly everySeconds: string;
  readonly makes: 'task' | 'run';
  readonly name: string;
  readonly input: string;
  readonly overlap: string;
  readonly misfire: string;
}

const NEW: Draft = {
  id: '',
  kind: 'cron',
  cron: '0 3 * * *',
  timeZone: 'UTC',
  everySeconds: '60',
  makes: 'task',
  name: '',
  input: '{}',
  overlap: 'allow',
  misfire: 'once',
};

function draftOf(schedule: Schedule): Draft {
  const { spec, task, run } = schedule;
  return {
    ...NEW,
    id: schedule.id,
    ...('cron' in spec ? { cron: spec.cron, timeZone: spec.timeZone ?? 'UTC' } : {}),
    ...('everyMs' in spec ? { kind: 'every', everySeconds: String(spec.everyMs / 1000) } : {}),
    makes: run === undefined ? 'task' : 'run',
    name: task?.type ?? run?.workflow ?? '',
    input: JSON.stringify(task?.input ?? run?.input ?? {}, undefined, 2),
    overlap: schedule.overlap ?? 'allow',
    misfire: schedule.misfire ?? 'once',
  };
}

/** What the form says as a request; fields that the form does not have stay as they are. */
function requestOf(draft: Draft, old: Schedule | undefined): ScheduleRequest | undefined {
  const input = parsedJson(draft.input);
  if (draft.name === '' || 'problem' in input) return undefined;
  const spec =
    draft.kind === 'cron'
      ? { cron: draft.cron, timeZone: draft.timeZone }
      : {
          ...(old !== undefined && 'everyMs' in old.spec ? old.spec : {}),
          everyMs: Math.round(Number(draft.everySeconds) * 1000),
        };
  const made =
    draft.makes === 'task'
      ? { task: { ...old?.task, type: draft.name, input: input.value } }
      : { run: { ...old?.run, workflow: draft.name, input: input.value } };
  const { window, misfireMax, jitterMs, tags } = old ?? {};
  const kept = Object.entries({ window, misfireMax, jitterMs, tags }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...Object.fromEntries(kept),
    spec,
    ...made,
    overlap: draft.overlap as 'allow',
    misfire: draft.misfire as 'once',
    paused: old?.paused ?? false,
  };
}

interface FormProps {
  readonly schedule?: Schedule;
  readonly onClose: () => void;
}

export function ScheduleForm({ schedule, onClose }: FormProps) {
  const [draft, setDraft] = useState<Draft>(() =>
    schedule === undefined ? NEW : draftOf(schedule),
  );
  const navigate = useNavigate();
  const put = useAction('PUT /v1/schedules/{id}');
  const body = requestOf(draft, schedule);
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (body === undefined) return;
    const onSuccess = () => {
      notify(`Saved ${draft.id}`);
      onClose();
      void navigate({ to: '/schedules/$id', params: { id: draft.id } });
    };
    put.mutate({ params: { id: draft.id }, body }, { onSuccess });
  };
  const title = schedule === undefined ? 'Create a schedule' : `Change ${schedule.id}`;
  return (
    <Dialog title={title} onClose={onClose} wide>
      <form className="form" onSubmit={save}>
        {schedule === undefined && (
          <Field label="Id">
            <input
              required
              value={draft.id}
              placeholder="nightly-report"
              onChange={(event) => set({ id: event.target.value })}
            />
          </Field>
        )}
        <When draft={draft} onChange={set} />
        <Preview id={draft.id} body={body} />
        <What draft={draft} onChange={set} />
        <ErrorNote error={put.error} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Back</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={body === undefined || draft.id === '' || put.isPending}
          >
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface PartProps {
  readonly draft: Draft;
  readonly onChange: (change: Partial<Draft>) => void;
}

function When({ draft, onChange }: PartProps) {
  return (
    <div className="filters">
      <Field label="Fires">
        <select
          value={draft.kind}
          onChange={(event) => onChange({ kind: event.target.value as Draft['kind'] })}
        >
          <option value="cron">at times of a cron pattern</option>
          <option value="every">in an interval</option>
        </select>
      </Field>
      {draft.kind === 'cron' ? (
        <>
          <Field label="Cron pattern" hint={cronWords(draft.cron) ?? 'five or six fields'}>
            <input
              className="mono"
              required
              value={draft.cron}
              onChange={(event) => onChange({ cron: event.target.value })}
            />
          </Field>
          <Field label="Time zone">
            <input
              list="zones"
              value={draft.timeZone}
              onChange={(event) => onChange({ timeZone: event.target.value })}
            />
          </Field>
          <datalist id="zones">
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      ) : (
        <Field label="Seconds between fires">
          <input
            type="number"
            min={0.1}
            step="any"
            value={draft.everySeconds}
            onChange={(event) => onChange({ everySeconds: event.target.value })}
          />
        </Field>
      )}
    </div>
  );
}

function What({ draft, onChange }: PartProps) {
  return (
    <>
      <div className="filters">
        <Field label="Makes">
          <select
            value={draft.makes}
            onChange={(event) => onChange({ makes: event.target.value as Draft['makes'] })}
          >
            <option value="task">a task</option>
            <option value="run">a run</option>
          </select>
        </Field>
        <Field label={draft.makes === 'task' ? 'Task type' : 'Workflow'}>
          <input
            required
            value={draft.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        </Field>
        <Field label="While the last one still runs">
          <select
            value={draft.overlap}
            onChange={(event) => onChange({ overlap: event.target.value })}
          >
            <option value="allow">both run</option>
            <option value="skip">skip this time</option>
            <option value="queue">wait for its turn</option>
            <option value="cancelPrevious">cancel the last one</option>
          </select>
        </Field>
        <Field label="Times missed in an outage">
          <select
            value={draft.misfire}
            onChange={(event) => onChange({ misfire: event.target.value })}
          >
            <option value="once">fire once</option>
            <option value="skip">skip them</option>
            <option value="all">fire all</option>
          </select>
        </Field>
      </div>
      <JsonField
        label="Input. {{scheduledAt}}, {{firedAt}} and {{fireNumber}} are replaced"
        rows={5}
        text={draft.input}
        onText={(input) => onChange({ input })}
      />
    </>
  );
}

/** The next times as the server computes them. */
function Preview({
  id,
  body,
}: {
  readonly id: string;
  readonly body: ScheduleRequest | undefined;
}) {
  const later = useDeferredValue(body);
  const plan = useApi(
    'PUT /v1/schedules/{id}',
    { params: { id: id === '' ? 'preview' : id }, query: { dryRun: 'true' }, body: later },
    { enabled: later !== undefined, meta: STILL },
  );
  if (later === undefined)
    return <p className="muted small">The next fires appear here once a name is given.</p>;
  if (plan.error !== null) return <ErrorNote error={plan.error} />;
  const fires = plan.data !== undefined && 'nextFires' in plan.data ? plan.data.nextFires : [];
  return (
    <div className="note" aria-live="polite">
      <span className="muted">Next fires: </span>
      {fires.length === 0 ? 'none' : fires.map((at) => localTime(Date.parse(at))).join(' · ')}
    </div>
  );
}
