/** One run: its graph and its timeline, live, and what may be done about it. */
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { STILL } from '../../base/live.ts';
import { useApi } from '../../base/queries.ts';
import { plural, words } from '../../base/words.ts';
import { type Block, blocksOf } from '../../graph/definition.ts';
import { GraphView } from '../../graph/graph-view.tsx';
import { marksOf } from '../../graph/step-marks.ts';
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
import { StateBadge } from '../../ui/state-badge.tsx';
import { Payload } from '../tasks/payload.tsx';
import { Gantt } from './gantt.tsx';
import { isOver, type Run, tookOf } from './run.ts';
import { RunActions } from './run-actions.tsx';
import { StepCounts } from './step-counts.tsx';
import { StepPanel } from './step-panel.tsx';

const VIEWS = { graph: 'Graph', timeline: 'Timeline' } as const;

export function RunPage() {
  const { id } = useParams({ from: '/runs/$id' });
  const { data: run, error } = useApi('GET /v1/runs/{id}', { params: { id } });
  if (run === undefined || run.id !== id) {
    return error === null ? <Loading /> : <ErrorNote error={error} />;
  }
  return (
    <>
      <nav className="crumbs" aria-label="Where this is">
        <Link to="/runs">Runs</Link> /{' '}
        <Link to="/runs" search={{ workflow: run.workflow }}>
          {run.workflow}
        </Link>
      </nav>
      <PageHead
        title={run.workflow}
        under={
          <>
            <StateBadge
              state={run.status}
              note={run.endingAs === undefined ? run.reason : `ending as ${run.endingAs}`}
            />
            <code>{run.id}</code>
            <CopyButton text={run.id} label="Copy the id" />
            <StepCounts counts={run.counts} />
          </>
        }
      >
        <RunActions run={run} />
      </PageHead>
      <div className="stack">
        <RunError run={run} />
        {!isOver(run) && <WaitsFor id={id} />}
        <Steps run={run} />
        <About run={run} />
        <div className="columns">
          <Panel title="Input">
            <Payload value={run.input} blob={run.inputBlob} label="Input" />
          </Panel>
          <Panel title="Output">
            <Payload
              value={run.output}
              blob={run.outputBlob}
              label="Output"
              isPending={!isOver(run)}
            />
          </Panel>
        </div>
      </div>
    </>
  );
}

function Steps({ run }: { readonly run: Run }) {
  const { view = 'graph', step } = useSearch({ from: '/runs/$id' });
  const navigate = useNavigate();
  const { id } = run;
  const definition = useApi('GET /v1/runs/{id}/definition', { params: { id } }, { meta: STILL });
  const blocks = useMemo(
    () =>
      definition.data === undefined ? plainBlocks(run.steps) : blocksOf(definition.data.definition),
    [definition.data, run.steps],
  );
  const marks = useMemo(() => marksOf(blocks, run.steps), [blocks, run.steps]);
  const choose = (next: string | undefined) =>
    void navigate({ to: '/runs/$id', params: { id }, search: { view, step: next }, replace: true });
  const setView = (next: string) =>
    void navigate({ to: '/runs/$id', params: { id }, search: { view: next, step }, replace: true });
  const tabs = (
    <div className="tabs" role="tablist" aria-label="View of the steps">
      {Object.entries(VIEWS).map(([name, title]) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={view === name}
          onClick={() => setView(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
  return (
    <Panel title="Steps" aside={tabs}>
      <div className="with-side" data-open={step !== undefined}>
        <div>
          {definition.isPending && <Loading />}
          {view === 'timeline' ? (
            <Gantt run={run} chosen={step} onChoose={choose} />
          ) : (
            !definition.isPending && (
              <GraphView blocks={blocks} marks={marks} chosen={step} onChoose={choose} />
            )
          )}
          {run.stepsCursor !== null && (
            <p className="muted small">
              The first {plural(run.steps.length, 'step')} are shown; the command line lists all.
            </p>
          )}
        </div>
        {step !== undefined && (
          <StepPanel
            run={run}
            reference={step}
            mark={marks.get(step)}
            onChoose={choose}
            onClose={() => choose(undefined)}
          />
        )}
      </div>
    </Panel>
  );
}

/** A run whose definition is gone is shown as a plain list. */
function plainBlocks(steps: Run['steps']): Block[] {
  return steps.map(({ reference, type, name }) => ({
    kind: 'step',
    node: { reference, type, name },
  }));
}

function RunError({ run }: { readonly run: Run }) {
  const { error } = run;
  if (error === null) return null;
  return (
    <div className="note" data-tone="bad">
      <strong data-tone="bad">{error.message}</strong>
      {error.step !== undefined && (
        <>
          {' '}
          in step{' '}
          <Link to="/runs/$id" params={{ id: run.id }} search={{ step: error.step }}>
            {error.step}
          </Link>
        </>
      )}
      {error.failureRunId !== undefined && (
        <>
          {' · '}
          <Link to="/runs/$id" params={{ id: error.failureRunId }}>
            run of the failure workflow
          </Link>
        </>
      )}
    </div>
  );
}

function WaitsFor({ id }: { readonly id: string }) {
  const { data } = useApi('GET /v1/runs/{id}/explain', { params: { id } });
  if (data === undefined || data.reasons.length === 0) return null;
  const shown = data.reasons.slice(0, 4);
  const more = data.reasons.length - shown.length + data.stepsNotShown;
  return (
    <Panel title="What does it wait for?">
      <ul className="reasons">
        {shown.map(({ code, message, step, taskId }) => (
          <li key={`${code} ${step ?? ''}`}>
            <span className="tag">{words(code)}</span>
            <span>
              {step !== undefined && <strong>{step}: </strong>}
              {message}{' '}
              {taskId !== undefined && (
                <Link to="/tasks/$id" params={{ id: taskId }}>
                  see the task
                </Link>
              )}
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="muted">and {plural(more, 'more step')}</p>}
    </Panel>
  );
}

function About({ run }: { readonly run: Run }) {
  const { parent } = run;
  return (
    <Panel title="About">
      <Facts
        items={[
          ['Started', <Time key="s" at={run.startedAt} />],
          [
            'Ended',
            run.endedAt === null ? (
              '–'
            ) : (
              <>
                <Time at={run.endedAt} />{' '}
                <span className="muted">after {tookOf(run.startedAt, run.endedAt)}</span>
              </>
            ),
          ],
          [
            'Workflow',
            <Link key="w" to="/workflows/$name" params={{ name: run.workflow }}>
              {run.workflow}{' '}
              {run.version === null ? '(came with the run)' : `version ${run.version}`}
            </Link>,
          ],
          ['Priority', `${run.priority} of 8`],
          ['Correlation id', run.correlationId ?? 'none'],
          ['Tags', <Tags key="t" tags={run.tags} />],
          ...(parent === null
            ? []
            : [
                [
                  words(parent.relation),
                  <Link
                    key="p"
                    to="/runs/$id"
                    params={{ id: parent.runId }}
                    search={{ step: parent.step ?? undefined }}
                  >
                    of {parent.runId}
                  </Link>,
                ] as const,
              ]),
        ]}
      />
    </Panel>
  );
}
