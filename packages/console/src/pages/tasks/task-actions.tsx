/** What may be done with one task in its state, by this caller. */
import { useState } from 'react';
import type { Answer } from '../../base/api.ts';
import { useCaller, useMay } from '../../base/caller.tsx';
import { useAction } from '../../base/queries.ts';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { JsonField, parsedJson } from '../../ui/json-field.tsx';
import { Button, CodeLine, ErrorNote, Field } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';

export type Task = Answer<'GET /v1/tasks/{id}'>;

export const ENDED: readonly string[] = [
  'succeeded',
  'failed',
  'timed_out',
  'expired',
  'cancelled',
];

const IDLE: readonly string[] = ['waiting', 'queued', 'blocked'];

type Doing = 'cancel' | 'retry' | 'priority' | 'copy';

export function TaskActions({ task }: { readonly task: Task }) {
  const [doing, setDoing] = useState<Doing>();
  const may = useMay('submit');
  const params = { id: task.id };
  const pause = useAction('POST /v1/tasks/{id}/pause');
  const resume = useAction('POST /v1/tasks/{id}/resume');
  const { state } = task;
  const isOver = ENDED.includes(state);
  const close = () => setDoing(undefined);
  return (
    <>
      <ErrorNote error={pause.error ?? resume.error} />
      <Button onClick={() => setDoing('copy')}>Copy as …</Button>
      {may && IDLE.includes(state) && (
        <Button onClick={() => setDoing('priority')}>Priority</Button>
      )}
      {may && IDLE.includes(state) && (
        <Button onClick={() => pause.mutate({ params })}>Pause</Button>
      )}
      {may && state === 'paused' && (
        <Button onClick={() => resume.mutate({ params })}>Resume</Button>
      )}
      {may && isOver && state !== 'succeeded' && (
        <Button kind="primary" onClick={() => setDoing('retry')}>
          Retry
        </Button>
      )}
      {may && !isOver && (
        <Button kind="danger" onClick={() => setDoing('cancel')}>
          Cancel
        </Button>
      )}
      {doing === 'cancel' && <CancelDialog task={task} onClose={close} />}
      {doing === 'retry' && <RetryDialog task={task} onClose={close} />}
      {doing === 'priority' && <PriorityDialog task={task} onClose={close} />}
      {doing === 'copy' && <CopyDialog task={task} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly task: Task;
  readonly onClose: () => void;
}

function CancelDialog({ task, onClose }: DialogProps) {
  const cancel = useAction('POST /v1/tasks/{id}/cancel');
  const isHeld = task.state === 'running' || task.state === 'leased';
  const done = () => {
    notify(isHeld ? 'The worker was told to stop' : 'The task is cancelled');
    onClose();
  };
  return (
    <Confirm
      title="Cancel this task?"
      action="Cancel the task"
      danger
      isBusy={cancel.isPending}
      onClose={onClose}
      onConfirm={() => cancel.mutate({ params: { id: task.id }, body: {} }, { onSuccess: done })}
    >
      <p>
        {isHeld
          ? 'Its worker is told to stop and has ten seconds for it.'
          : 'It ends at once and can be retried later.'}
      </p>
      <ErrorNote error={cancel.error} />
    </Confirm>
  );
}

function RetryDialog({ task, onClose }: DialogProps) {
  const retry = useAction('POST /v1/tasks/{id}/retry');
  const first = task.input === undefined ? '' : JSON.stringify(task.input, undefined, 2);
  const [text, setText] = useState(first);
  const parsed = parsedJson(text);
  const isChanged = text !== first;
  const done = () => {
    notify('The task runs again');
    onClose();
  };
  const body = isChanged && 'value' in parsed ? { input: parsed.value } : {};
  return (
    <Confirm
      title="Retry this task?"
      action={isChanged ? 'Retry with the new input' : 'Retry'}
      isBusy={retry.isPending}
      isBlocked={isChanged && 'problem' in parsed}
      onClose={onClose}
      onConfirm={() => retry.mutate({ params: { id: task.id }, body }, { onSuccess: done })}
    >
      <p>It runs again under the same id, with attempts from 1.</p>
      {task.input !== undefined && text.length < 100_000 && (
        <JsonField label="Input" text={text} onText={setText} />
      )}
      <ErrorNote error={retry.error} />
    </Confirm>
  );
}

function PriorityDialog({ task, onClose }: DialogProps) {
  const patch = useAction('PATCH /v1/tasks/{id}');
  const [priority, setPriority] = useState(String(task.priority));
  return (
    <Confirm
      title="Change the priority"
      action="Change"
      isBusy={patch.isPending}
      onClose={onClose}
      onConfirm={() =>
        patch.mutate(
          { params: { id: task.id }, body: { priority: Number(priority) } },
          { onSuccess: onClose },
        )
      }
    >
      <Field
        label="Priority"
        hint="8 runs first. The task goes to the end of the tasks of that priority."
      >
        <input
          type="number"
          min={0}
          max={8}
          value={priority}
          onChange={(event) => setPriority(event.target.value)}
        />
      </Field>
      <ErrorNote error={patch.error} />
    </Confirm>
  );
}

const COPIED_MAX = 2000;

function CopyDialog({ task, onClose }: DialogProps) {
  const { actor } = useCaller();
  const isCommand = task.exec !== undefined;
  const input = JSON.stringify(task.input ?? null).slice(0, COPIED_MAX);
  const body = isCommand
    ? JSON.stringify({ exec: task.exec }).slice(0, COPIED_MAX)
    : `{"type":"${task.type}","input":${input}}`;
  const key = actor === 'local' ? '' : ' -H "authorization: Bearer $SLUICE_API_KEY"';
  const { origin } = window.location;
  return (
    <Dialog title="The same from elsewhere" onClose={onClose} wide>
      <Line
        caption="Submit such a task with curl"
        text={`curl ${origin}/v1/tasks${key} -d '${quoted(body)}'`}
      />
      {!isCommand && (
        <>
          <Line
            caption="With the command line"
            text={`npx sluice task submit ${task.type} --input '${quoted(input)}'`}
          />
          <Line caption="With the SDK" text={`await sluice.submit('${task.type}', ${input})`} />
        </>
      )}
      <Line caption="Read this task" text={`npx sluice task get ${task.id}`} />
      <div className="dialog-foot">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

/** For a text between single quotes of a shell. */
function quoted(text: string): string {
  return text.replaceAll("'", "'\\''");
}

function Line({ caption, text }: { readonly caption: string; readonly text: string }) {
  return (
    <div className="field">
      <span>{caption}</span>
      <CodeLine text={text} />
    </div>
  );
}
