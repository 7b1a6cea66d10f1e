/** Skip, complete and fail a step; begin an ended run again from it. */
import { useState } from 'react';
import { useAction } from '../../base/queries.ts';
import type { Step } from '../../graph/step-marks.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { JsonField, parsedJson } from '../../ui/json-field.tsx';
import { Button, ErrorNote, Field } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';
import { isOver, type Run } from './run.ts';

type Doing = 'skip' | 'complete' | 'fail' | 'rerun';

const FAILED = ['failed', 'timed_out'];

interface ActionProps {
  readonly run: Run;
  readonly step: Step;
}

export function StepActions({ run, step }: ActionProps) {
  const [doing, setDoing] = useState<Doing>();
  const { state } = step;
  const close = () => setDoing(undefined);
  const offers: readonly (readonly [Doing, string, boolean])[] = [
    ['complete', 'Complete by hand', state === 'running' || FAILED.includes(state)],
    ['skip', 'Skip', state === 'pending' || FAILED.includes(state)],
    ['fail', 'Fail', state === 'running'],
    ['rerun', 'Rerun from here', isOver(run) && state !== 'pending' && state !== 'skipped'],
  ];
  return (
    <div className="row">
      {offers.map(([name, title, isOffered]) =>
        isOffered ? (
          <Button key={name} size="small" onClick={() => setDoing(name)}>
            {title}
          </Button>
        ) : null,
      )}
      {doing === 'skip' && <SkipDialog run={run} step={step} onClose={close} />}
      {doing === 'complete' && <CompleteDialog run={run} step={step} onClose={close} />}
      {doing === 'fail' && <FailDialog run={run} step={step} onClose={close} />}
      {doing === 'rerun' && <RerunDialog run={run} step={step} onClose={close} />}
    </div>
  );
}

interface StepDialogProps extends ActionProps {
  readonly onClose: () => void;
}

function SkipDialog({ run, step, onClose }: StepDialogProps) {
  const skip = useAction('POST /v1/runs/{id}/steps/{step}/skip');
  const params = { id: run.id, step: step.reference };
  return (
    <Confirm
      title={`Skip ${step.reference}?`}
      action="Skip the step"
      isBusy={skip.isPending}
      onClose={onClose}
      onConfirm={() =>
        skip.mutate({ params }, { onSuccess: done(`Skipped ${step.reference}`, onClose) })
      }
    >
      <p>The run goes on as if the step had succeeded, without an output.</p>
      <ErrorNote error={skip.error} />
    </Confirm>
  );
}

function CompleteDialog({ run, step, onClose }: StepDialogProps) {
  const complete = useAction('POST /v1/runs/{id}/steps/{step}/complete');
  const [text, setText] = useState('{}');
  const parsed = parsedJson(text);
  const params = { id: run.id, step: step.reference };
  return (
    <Confirm
      title={`Complete ${step.reference} by hand`}
      action="Complete the step"
      isBusy={complete.isPending}
      isBlocked={'problem' in parsed}
      onClose={onClose}
      onConfirm={() => {
        if ('problem' in parsed) return;
        const body = { output: parsed.value };
        complete.mutate(
          { params, body },
          { onSuccess: done(`Completed ${step.reference}`, onClose) },
        );
      }}
    >
      <p>The step succeeds with this output, and the run goes on.</p>
      <JsonField label="Output" text={text} onText={setText} />
      <ErrorNote error={complete.error} />
    </Confirm>
  );
}

function FailDialog({ run, step, onClose }: StepDialogProps) {
  const fail = useAction('POST /v1/runs/{id}/steps/{step}/fail');
  const [message, setMessage] = useState('');
  const params = { id: run.id, step: step.reference };
  return (
    <Confirm
      title={`Fail ${step.reference}`}
      action="Fail the step"
      danger
      isBusy={fail.isPending}
      isBlocked={message === ''}
      onClose={onClose}
      onConfirm={() =>
        fail.mutate(
          { params, body: { error: { message } } },
          { onSuccess: done(`Failed ${step.reference}`, onClose) },
        )
      }
    >
      <Field label="Reason">
        <input value={message} onChange={(event) => setMessage(event.target.value)} />
      </Field>
      <ErrorNote error={fail.error} />
    </Confirm>
  );
}

function RerunDialog({ run, step, onClose }: StepDialogProps) {
  const rerun = useAction('POST /v1/runs/{id}/rerun');
  const first = step.input === undefined ? '' : JSON.stringify(step.input, undefined, 2);
  const [text, setText] = useState(first);
  const parsed = parsedJson(text);
  const isChanged = text !== first;
  const body = {
    fromStep: step.reference,
    ...(isChanged && 'value' in parsed ? { input: parsed.value } : {}),
  };
  return (
    <Confirm
      title={`Rerun from ${step.reference}`}
      action="Rerun"
      isBusy={rerun.isPending}
      isBlocked={isChanged && 'problem' in parsed}
      onClose={onClose}
      onConfirm={() =>
        rerun.mutate(
          { params: { id: run.id }, body },
          { onSuccess: done('The run goes on', onClose) },
        )
      }
    >
      <p>This step and all that follow it begin again. What came before is kept.</p>
      {step.input !== undefined && (
        <JsonField label="Input of the step" text={text} onText={setText} />
      )}
      <ErrorNote error={rerun.error} />
    </Confirm>
  );
}

function done(text: string, onClose: () => void): () => void {
  return () => {
    notify(text);
    onClose();
  };
}
