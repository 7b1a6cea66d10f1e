/** What may be done with a run in its state, by this caller. */
import { useState } from 'react';
import { useMay } from '../../base/caller.tsx';
import { useAction } from '../../base/queries.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Button, ErrorNote } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';
import { isOver, type Run } from './run.ts';

type Doing = 'cancel' | 'retry' | 'restart';

export function RunActions({ run }: { readonly run: Run }) {
  const [doing, setDoing] = useState<Doing>();
  const may = useMay('operate');
  const pause = useAction('POST /v1/runs/{id}/pause');
  const resume = useAction('POST /v1/runs/{id}/resume');
  const params = { id: run.id };
  const close = () => setDoing(undefined);
  if (!may) return null;
  const hasEnded = isOver(run);
  return (
    <>
      <ErrorNote error={pause.error ?? resume.error} />
      {run.status === 'running' && <Button onClick={() => pause.mutate({ params })}>Pause</Button>}
      {run.status === 'paused' && <Button onClick={() => resume.mutate({ params })}>Resume</Button>}
      {hasEnded && <Button onClick={() => setDoing('restart')}>Restart</Button>}
      {hasEnded && run.status !== 'succeeded' && (
        <Button kind="primary" onClick={() => setDoing('retry')}>
          Retry
        </Button>
      )}
      {!hasEnded && (
        <Button kind="danger" onClick={() => setDoing('cancel')}>
          Cancel
        </Button>
      )}
      {doing !== undefined && <RunDialog run={run} doing={doing} onClose={close} />}
    </>
  );
}

const TEXTS = {
  cancel: {
    call: 'POST /v1/runs/{id}/cancel',
    title: 'Cancel this run?',
    action: 'Cancel the run',
    text: 'Its tasks are stopped. It can be retried later.',
    done: 'The run is being cancelled',
  },
  retry: {
    call: 'POST /v1/runs/{id}/retry',
    title: 'Retry this run?',
    action: 'Retry the run',
    text: 'What failed or was stopped begins again. What succeeded is kept.',
    done: 'The run goes on',
  },
  restart: {
    call: 'POST /v1/runs/{id}/restart',
    title: 'Restart this run?',
    action: 'Restart the run',
    text: 'It begins again from its first step, with the same input.',
    done: 'The run begins again',
  },
} as const;

interface RunDialogProps {
  readonly run: Run;
  readonly doing: Doing;
  readonly onClose: () => void;
}

function RunDialog({ run, doing, onClose }: RunDialogProps) {
  const { call, title, action, text, done } = TEXTS[doing];
  const act = useAction(call);
  const onSuccess = () => {
    notify(done);
    onClose();
  };
  return (
    <Confirm
      title={title}
      action={action}
      danger={doing === 'cancel'}
      isBusy={act.isPending}
      onClose={onClose}
      onConfirm={() => act.mutate({ params: { id: run.id } }, { onSuccess })}
    >
      <p>{text}</p>
      <ErrorNote error={act.error} />
    </Confirm>
  );
}
