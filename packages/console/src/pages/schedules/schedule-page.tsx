/** One schedule: when it fires next, what it made, why it did not. */
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../base/caller.tsx';
import { useAction, useApi, useList } from '../../base/queries.ts';
import { count, plural, words } from '../../base/words.ts';
import { Confirm } from '../../ui/dialog.tsx';
import {
  Button,
  Empty,
  ErrorNote,
  Facts,
  Loading,
  PageHead,
  Panel,
  Tags,
  Time,
} from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';
import { notify } from '../../ui/toast.tsx';
import { Payload } from '../tasks/payload.tsx';
import { BackfillDialog } from './backfill-dialog.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { madeOf, type Schedule, specWords } from './spec-words.ts';

export function SchedulePage() {
  const { id } = useParams({ from: '/schedules/$id' });
  const { data: schedule, error } = useApi('GET /v1/schedules/{id}', { params: { id } });
  if (schedule === undefined || schedule.id !== id) {
    return error === null ? <Loading /> : <ErrorNote error={error} />;
  }
  return (
    <>
      <nav className="crumbs" aria-label="Where this is">
        <Link to="/schedules">Schedules</Link> /
      </nav>
      <PageHead
        title={id}
        under={
          <>
            <StateBadge state={schedule.state} />
            <span>{specWords(schedule.spec)}</span>
          </>
        }
      >
        <Actions schedule={schedule} />
      </PageHead>
      <div className="stack">
        <WhyNot schedule={schedule} />
        <About schedule={schedule} />
        <div className="columns">
          <Fires id={id} />
          <NextFires schedule={schedule} />
        </div>
        <Panel title="Input of what it makes">
          <Payload
            value={schedule.task?.input ?? schedule.run?.input ?? null}
            blob={undefined}
            label="Input"
          />
        </Panel>
      </div>
    </>
  );
}

function About({ schedule }: { readonly schedule: Schedule }) {
  const { lastSkip, backfill } = schedule;
  return (
    <Panel title="About">
      <Facts
        items={[
          ['Makes', madeOf(schedule)],
          ['Next fire', <Time key="n" at={schedule.nextFireAt} />],
          ['Last fire', <Time key="l" at={schedule.lastFireAt} />],
          ['Fires', count(schedule.fireCount)],
          [
            'Skipped',
            lastSkip === null
              ? count(schedule.skipCount)
              : `${count(schedule.skipCount)}, last: ${words(lastSkip.reason)}`,
          ],
          ['While the last still runs', words(schedule.overlap ?? 'allow')],
          ['After an outage', words(schedule.misfire ?? 'once')],
          ['Tags', <Tags key="t" tags={schedule.tags ?? {}} />],
          ...(backfill === null ? [] : [['Backfill', `${count(backfill.done)} done`] as const]),
        ]}
      />
    </Panel>
  );
}

function WhyNot({ schedule }: { readonly schedule: Schedule }) {
  const { id } = schedule;
  const { data } = useApi('GET /v1/schedules/{id}/explain', { params: { id } });
  if (data === undefined || (schedule.state === 'active' && schedule.lastSkip === null))
    return null;
  return (
    <div className="note" data-tone="warn">
      {data.summary}
      <ul>
        {data.reasons.map(({ code, message }) => (
          <li key={code}>{message}</li>
        ))}
      </ul>
    </div>
  );
}

function NextFires({ schedule }: { readonly schedule: Schedule }) {
  const { data } = useApi('GET /v1/schedules/{id}/preview', {
    params: { id: schedule.id },
    query: { count: 10 },
  });
  return (
    <Panel title="Next fires">
      {data === undefined ? (
        <Loading />
      ) : data.items.length === 0 ? (
        <p className="muted">None: it is paused, has completed, or waits for what it made.</p>
      ) : (
        <ol className="times">
          {data.items.map(({ at }) => (
            <li key={at} className="row spread">
              <Time at={at} />
              <span className="muted">
                <Time at={at} ago />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Fires({ id }: { readonly id: string }) {
  const list = useList('GET /v1/schedules/{id}/fires', { params: { id } }, { limit: 20 });
  return (
    <Panel title="What it made" flush={list.items.length > 0}>
      {list.items.length === 0 ? (
        <Empty title="Nothing yet">It has not fired so far. Trigger it to see what happens.</Empty>
      ) : (
        <ScrollArea className="table-scroll" label="Table of what it made">
          <table>
            <thead>
              <tr>
                <th>State</th>
                <th>For</th>
                <th>Made</th>
              </tr>
            </thead>
            <tbody>
              {list.items.map((fire) => (
                <tr key={`${fire.scheduledAt}${fire.taskId ?? fire.runId}`}>
                  <td>
                    <StateBadge state={fire.status} />
                  </td>
                  <td className="nowrap">
                    <Time at={fire.scheduledAt} />
                  </td>
                  <td>
                    {fire.taskId !== undefined && (
                      <Link to="/tasks/$id" params={{ id: fire.taskId }}>
                        task
                      </Link>
                    )}
                    {fire.runId !== undefined && (
                      <Link to="/runs/$id" params={{ id: fire.runId }}>
                        run
                      </Link>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      )}
    </Panel>
  );
}

type Doing = 'edit' | 'backfill' | 'delete';

function Actions({ schedule }: { readonly schedule: Schedule }) {
  const [doing, setDoing] = useState<Doing>();
  const may = useMay('operate');
  const params = { id: schedule.id };
  const pause = useAction('POST /v1/schedules/{id}/pause');
  const resume = useAction('POST /v1/schedules/{id}/resume');
  const trigger = useAction('POST /v1/schedules/{id}/trigger');
  const close = () => setDoing(undefined);
  if (!may) return null;
  const isPermanent = 'permanent' in schedule.spec;
  return (
    <>
      <ErrorNote error={pause.error ?? resume.error ?? trigger.error} />
      {!isPermanent && (
        <Button
          onClick={() =>
            trigger.mutate({ params }, { onSuccess: () => notify(`Fired ${schedule.id}`) })
          }
        >
          Trigger now
        </Button>
      )}
      {schedule.state === 'paused' ? (
        <Button onClick={() => resume.mutate({ params })}>Resume</Button>
      ) : (
        <Button onClick={() => pause.mutate({ params })}>Pause</Button>
      )}
      {!isPermanent && <Button onClick={() => setDoing('backfill')}>Backfill</Button>}
      <Button onClick={() => setDoing('edit')}>Edit</Button>
      <Button kind="danger" onClick={() => setDoing('delete')}>
        Delete
      </Button>
      {doing === 'edit' && <ScheduleForm schedule={schedule} onClose={close} />}
      {doing === 'backfill' && <BackfillDialog id={schedule.id} onClose={close} />}
      {doing === 'delete' && <DeleteDialog schedule={schedule} onClose={close} />}
    </>
  );
}

function DeleteDialog({
  schedule,
  onClose,
}: {
  readonly schedule: Schedule;
  readonly onClose: () => void;
}) {
  const remove = useAction('DELETE /v1/schedules/{id}');
  const navigate = useNavigate();
  const onSuccess = () => {
    notify(`Deleted ${schedule.id}`);
    void navigate({ to: '/schedules' });
  };
  return (
    <Confirm
      title={`Delete ${schedule.id}?`}
      action="Delete the schedule"
      danger
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id: schedule.id } }, { onSuccess })}
    >
      <p>
        It fires no more. {plural(schedule.running.length, 'task or run', 'tasks and runs')} of it
        go on.
      </p>
      <ErrorNote error={remove.error} />
    </Confirm>
  );
}
