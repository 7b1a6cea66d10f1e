/** Creates or changes a schedule. The server says while one types when it would fire. */
import type { ScheduleRequest } from '@sluice/protocol';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useDeferredValue, useState } from 'react';
import { STILL } from '../../base/live.ts';
import { useAction, useApi } from '../../base/queries.ts';
import { localTime } from '../../base/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonField } from '../../ui/json-field.tsx';
import { Button, ErrorNote, Field } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';
import { cronWords } from './cron-words.ts';
import { type Draft, draftOf, KINDS, type Kind, NEW_DRAFT, requestOf } from './schedule-draft.ts';
import type { Schedule } from './spec-words.ts';

interface FormProps {
  readonly schedule?: Schedule;
  readonly onClose: () => void;
}

export function ScheduleForm({ schedule, onClose }: FormProps) {
  const [draft, setDraft] = useState<Draft>(() =>
    schedule === undefined ? NEW_DRAFT : draftOf(schedule),
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
        <Preview id={draft.id} kind={draft.kind} body={body} />
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
          onChange={(event) => onChange({ kind: event.target.value as Kind })}
        >
          {Object.entries(KINDS).map(([kind, words]) => (
            <option key={kind} value={kind}>
              {words}
            </option>
          ))}
        </select>
      </Field>
      <Times draft={draft} onChange={onChange} />
    </div>
  );
}

function Times({ draft, onChange }: PartProps) {
  switch (draft.kind) {
    case 'cron':
      return <CronTimes draft={draft} onChange={onChange} />;
    case 'once':
      return (
        <Field label="At, in your time zone">
          <input
            type="datetime-local"
            step={1}
            required
            value={draft.at}
            onChange={(event) => onChange({ at: event.target.value })}
          />
        </Field>
      );
    case 'permanent':
      return (
        <Field label="How many at once">
          <input
            type="number"
            min={1}
            value={draft.replicas}
            onChange={(event) => onChange({ replicas: event.target.value })}
          />
        </Field>
      );
    default:
      return <IntervalTimes draft={draft} onChange={onChange} />;
  }
}

function CronTimes({ draft, onChange }: PartProps) {
  return (
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
  );
}

function IntervalTimes({ draft, onChange }: PartProps) {
  const isDelay = draft.kind === 'delay';
  return (
    <>
      <Field label={isDelay ? 'Seconds after the end' : 'Seconds between fires'}>
        <input
          type="number"
          min={0.1}
          step="any"
          value={draft.everySeconds}
          onChange={(event) => onChange({ everySeconds: event.target.value })}
        />
      </Field>
      <Field label="First, in your time zone (optional)">
        <input
          type="datetime-local"
          step={1}
          value={draft.startAt}
          onChange={(event) => onChange({ startAt: event.target.value })}
        />
      </Field>
    </>
  );
}

const NAMES = { task: 'Task type', run: 'Workflow' } as const;

function What({ draft, onChange }: PartProps) {
  const { makes } = draft;
  return (
    <>
      <div className="filters">
        <Field label="Makes">
          <select
            value={makes}
            onChange={(event) => onChange({ makes: event.target.value as Draft['makes'] })}
          >
            <option value="task">a task</option>
            <option value="run">a run of a workflow</option>
            <option value="exec">a command or container</option>
          </select>
        </Field>
        {makes !== 'exec' && (
          <Field label={NAMES[makes]}>
            <input
              required
              list={`${makes}-names`}
              value={draft.name}
              onChange={(event) => onChange({ name: event.target.value })}
            />
          </Field>
        )}
        {draft.kind !== 'permanent' && <Policies draft={draft} onChange={onChange} />}
      </div>
      <Names />
      {makes === 'exec' ? (
        <JsonField
          label="Program, as exec of a task. {{scheduledAt}} and {{fireNumber}} are replaced"
          rows={5}
          text={draft.exec}
          onText={(exec) => onChange({ exec })}
        />
      ) : (
        <JsonField
          label="Input. {{scheduledAt}}, {{firedAt}} and {{fireNumber}} are replaced"
          rows={5}
          text={draft.input}
          onText={(input) => onChange({ input })}
        />
      )}
    </>
  );
}

/** What there is to choose from; another name may be written. */
function Names() {
  const queues = useApi('GET /v1/queues', { query: { limit: 200 } }, { meta: STILL });
  const workflows = useApi('GET /v1/workflows', { query: { limit: 200 } }, { meta: STILL });
  return (
    <>
      <datalist id="task-names">
        {queues.data?.items.map(({ type }) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <datalist id="run-names">
        {workflows.data?.items.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function Policies({ draft, onChange }: PartProps) {
  return (
    <>
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
    </>
  );
}

/** The next times as the server computes them. */
function Preview({
  id,
  kind,
  body,
}: {
  readonly id: string;
  readonly kind: Kind;
  readonly body: ScheduleRequest | undefined;
}) {
  const later = useDeferredValue(body);
  const plan = useApi(
    'PUT /v1/schedules/{id}',
    { params: { id: id === '' ? 'preview' : id }, query: { dryRun: 'true' }, body: later },
    { enabled: later !== undefined, meta: STILL },
  );
  if (later === undefined)
    return <p className="muted small">The next fires appear here once the form is complete.</p>;
  if (plan.error !== null) return <ErrorNote error={plan.error} />;
  if (kind === 'permanent') {
    return (
      <div className="note" aria-live="polite">
        It starts at once, and again whenever one ends.
      </div>
    );
  }
  const fires = plan.data !== undefined && 'nextFires' in plan.data ? plan.data.nextFires : [];
  return (
    <div className="note" aria-live="polite">
      <span className="muted">Next fires: </span>
      {fires.length === 0 ? 'none' : fires.map((at) => localTime(Date.parse(at))).join(' · ')}
    </div>
  );
}
