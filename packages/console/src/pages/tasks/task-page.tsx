/** Everything about one task: what it is, what happened, why it is not running. */
import { Link, useParams } from '@tanstack/react-router';
import { useApi } from '../../base/queries.ts';
import { duration } from '../../base/words.ts';
import {
  CopyButton,
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
import { Attempts } from './attempts.tsx';
import { ExplainPanel } from './explain-panel.tsx';
import { CallbacksPanel, HistoryPanel } from './history-panel.tsx';
import { LogPanel } from './log-panel.tsx';
import { Payload } from './payload.tsx';
import { ENDED, type Task, TaskActions } from './task-actions.tsx';
import { noteOf } from './task-columns.tsx';

export function TaskPage() {
  const { id } = useParams({ from: '/tasks/$id' });
  const { data: task, error } = useApi('GET /v1/tasks/{id}', { params: { id } });
  if (task === undefined || task.id !== id) {
    return error === null ? <Loading /> : <ErrorNote error={error} />;
  }
  const isOver = ENDED.includes(task.state);
  return (
    <>
      <nav className="crumbs" aria-label="Where this is">
        <Link to="/tasks">Tasks</Link> /{' '}
        <Link to="/tasks" search={{ type: task.type }}>
          {task.type}
        </Link>
      </nav>
      <PageHead
        title={task.type}
        under={
          <>
            <StateBadge state={task.state} note={noteOf(task.state, task.reason)} />
            <code>{task.id}</code>
            <CopyButton text={task.id} label="Copy the id" />
          </>
        }
      >
        <TaskActions task={task} />
      </PageHead>
      <div className="stack">
        {task.progress !== null && !isOver && <Progress {...task.progress} />}
        {!isOver && task.state !== 'running' && task.state !== 'leased' && <ExplainPanel id={id} />}
        <About task={task} />
        <Panel title="Attempts">
          <Attempts task={task} />
        </Panel>
        <div className="columns">
          <Panel title="Input">
            <Payload value={task.input} blob={task.inputBlob} label="Input" />
          </Panel>
          <Panel title={task.error === null ? 'Output' : 'Error'}>
            {task.error === null ? (
              <Payload
                value={task.output}
                blob={task.outputBlob}
                label="Output"
                isPending={!isOver}
              />
            ) : (
              <ErrorText error={task.error} />
            )}
          </Panel>
        </div>
        {task.exec !== undefined && (
          <Panel title="Command">
            <Payload value={task.exec} blob={undefined} label="Command" />
          </Panel>
        )}
        <LogPanel id={id} />
        <div className="columns">
          <HistoryPanel id={id} />
          {task.callback !== null && <CallbacksPanel id={id} url={task.callback.url} />}
        </div>
      </div>
    </>
  );
}

function Progress({ fraction, message }: { readonly fraction: number; readonly message: string }) {
  const text = `${Math.round(fraction * 100)} % ${message}`;
  return (
    <div className="panel progress">
      <progress max={1} value={fraction} aria-label="Progress" />
      <span>{text}</span>
    </div>
  );
}

function About({ task }: { readonly task: Task }) {
  const { submittedAt, endedAt, runAt, parentId, runId, step, timeouts } = task;
  const took =
    endedAt === null || submittedAt === null
      ? ''
      : duration(Date.parse(endedAt) - Date.parse(submittedAt));
  const limits = Object.entries(timeouts).map(
    ([name, ms]) => `${name.replace(/Ms$/, '')} ${duration(ms)}`,
  );
  return (
    <Panel title="About">
      <Facts
        items={[
          ['Submitted', <Time key="s" at={submittedAt} />],
          ...(runAt === null ? [] : [['Runs at', <Time key="r" at={runAt} />] as const]),
          [
            'Ended',
            endedAt === null ? (
              '–'
            ) : (
              <>
                <Time at={endedAt} /> <span className="muted">after {took}</span>
              </>
            ),
          ],
          ['Priority', `${task.priority} of 8`],
          ['Reserved', resourcesText(task.resources)],
          ['Constraints', task.constraints.length === 0 ? 'none' : task.constraints.join(', ')],
          ['Time limits', limits.length === 0 ? 'none' : limits.join(', ')],
          ['Tags', <Tags key="t" tags={task.tags} />],
          ...(runId === undefined
            ? []
            : [
                [
                  'Step of a run',
                  <Link key="run" to="/runs/$id" params={{ id: runId }} search={{ step }}>
                    {step}
                  </Link>,
                ] as const,
              ]),
          ...(parentId === null
            ? []
            : [
                [
                  'Parent',
                  <Link key="p" to="/tasks/$id" params={{ id: parentId }}>
                    {parentId}
                  </Link>,
                ] as const,
              ]),
        ]}
      />
    </Panel>
  );
}

const UNITS: Readonly<Record<string, readonly [string, string]>> = {
  slots: ['slot', 'slots'],
  cpu: ['core', 'cores'],
  memoryMb: ['MB memory', 'MB memory'],
  diskMb: ['MB disk', 'MB disk'],
  gpu: ['GPU', 'GPUs'],
};

function resourcesText({ custom, ...plain }: Task['resources']): string {
  const parts = Object.entries({ ...plain, ...custom }).map(([name, amount]) => {
    const [one, many] = UNITS[name] ?? [name, name];
    return `${amount} ${amount === 1 ? one : many}`;
  });
  return parts.join(', ');
}

function ErrorText({ error }: { readonly error: NonNullable<Task['error']> }) {
  return (
    <div className="stack">
      <p className="error-text">
        {error.message}
        {error.code !== undefined && <code className="muted"> {error.code}</code>}
      </p>
      {error.stack !== undefined && (
        <ScrollArea className="stack-trace" label="Stack of the error">
          {error.stack.slice(0, 20_000)}
        </ScrollArea>
      )}
    </div>
  );
}
