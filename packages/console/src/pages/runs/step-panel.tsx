/** One step of a run: what went in and came out, and what may be done about it. */
import { Link } from '@tanstack/react-router';
import { useMay } from '../../base/caller.tsx';
import { words } from '../../base/words.ts';
import { countsOf, type Mark, type Step } from '../../graph/step-marks.ts';
import { Icon } from '../../ui/icons.tsx';
import { Button, Facts, Time } from '../../ui/parts.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';
import { Payload } from '../tasks/payload.tsx';
import { type Run, tookOf } from './run.ts';
import { StepActions } from './step-actions.tsx';

interface StepPanelProps {
  readonly run: Run;
  readonly reference: string;
  readonly mark: Mark | undefined;
  readonly onChoose: (reference: string) => void;
  readonly onClose: () => void;
}

export function StepPanel({ run, reference, mark, onChoose, onClose }: StepPanelProps) {
  const step = run.steps.find((each) => each.reference === reference) ?? mark?.step;
  const mayOperate = useMay('operate');
  return (
    <aside className="side" aria-label={`Step ${reference}`}>
      <div className="row spread">
        <h2>{reference}</h2>
        <Button kind="ghost" size="small" aria-label="Close the step" onClick={onClose}>
          <Icon name="close" size={14} />
        </Button>
      </div>
      {step === undefined ? (
        <p className="muted">The run has not come to this step.</p>
      ) : (
        <>
          <StateBadge state={step.state} note={step.reason} />
          <StepFacts step={step} />
          {mark !== undefined && mark.many.length > 0 && (
            <Many steps={mark.many} onChoose={onChoose} />
          )}
          {mayOperate && <StepActions run={run} step={step} />}
          {step.error !== null && <p className="error-text">{step.error.message}</p>}
          <h3>Input</h3>
          <Payload value={step.input} blob={step.inputBlob} label={`Input of ${reference}`} />
          <h3>Output</h3>
          <Payload
            value={step.output}
            blob={step.outputBlob}
            label={`Output of ${reference}`}
            isPending={step.endedAt === null}
          />
        </>
      )}
    </aside>
  );
}

function StepFacts({ step }: { readonly step: Step }) {
  const { taskId, childRunId } = step;
  return (
    <Facts
      items={[
        ['Type', step.type === 'SIMPLE' ? step.name : words(step.type).toLowerCase()],
        ['Began', <Time key="b" at={step.startedAt} />],
        ['Took', tookOf(step.startedAt, step.endedAt) || '–'],
        ...(taskId === null
          ? []
          : [
              [
                'Task',
                <Link key="t" to="/tasks/$id" params={{ id: taskId }}>
                  attempt {step.attempt}, logs
                </Link>,
              ] as const,
            ]),
        ...(childRunId === null
          ? []
          : [
              [
                'Run',
                <Link key="r" to="/runs/$id" params={{ id: childRunId }}>
                  step into
                </Link>,
              ] as const,
            ]),
      ]}
    />
  );
}

const SHOWN_MAX = 200;

/** The branches of a dynamic fork or the iterations of a loop: counts first, each on demand. */
function Many({
  steps,
  onChoose,
}: {
  readonly steps: readonly Step[];
  readonly onChoose: (reference: string) => void;
}) {
  const counts = countsOf(steps).map(([state, count]) => `${count} ${words(state)}`);
  return (
    <details className="many">
      <summary>{counts.join(', ')}</summary>
      <ul className="many-list">
        {steps.slice(0, SHOWN_MAX).map(({ reference, state }) => (
          <li key={reference}>
            <button type="button" className="json-toggle" onClick={() => onChoose(reference)}>
              <StateBadge state={state} />
              {reference}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
