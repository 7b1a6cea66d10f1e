/** A form that submits a task. It begins with the last input of the type. */
import type { TaskRequest } from '@sluice/protocol';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { STILL } from '../../base/live.ts';
import { useAction, useApi } from '../../base/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonField, parsedJson } from '../../ui/json-field.tsx';
import { Button, ErrorNote, Field } from '../../ui/parts.tsx';

interface SubmitProps {
  readonly type?: string | undefined;
  readonly onClose: () => void;
}

export function SubmitDialog({ type: first = '', onClose }: SubmitProps) {
  const navigate = useNavigate();
  const [type, setType] = useState(first);
  const [text, setText] = useState<string>();
  const [priority, setPriority] = useState('4');
  const [delay, setDelay] = useState('0');
  const last = useApi(
    'GET /v1/tasks',
    { query: { type, limit: 1 } },
    { enabled: type !== '', meta: STILL },
  );
  const submit = useAction('POST /v1/tasks');
  const lastInput = last.data?.items.at(0)?.input;
  const shown = text ?? (lastInput === undefined ? '{}' : JSON.stringify(lastInput, undefined, 2));
  const input = parsedJson(shown);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if ('problem' in input) return;
    const delayMs = Math.round(Number(delay) * 1000);
    const body: TaskRequest = {
      type,
      input: input.value,
      priority: Number(priority),
      ...(delayMs > 0 ? { delayMs } : {}),
    };
    submit.mutate(
      { body },
      {
        onSuccess: (made) => {
          onClose();
          if ('id' in made) void navigate({ to: '/tasks/$id', params: { id: made.id } });
        },
      },
    );
  };
  return (
    <Dialog title="Submit a task" onClose={onClose} wide>
      <form className="form" onSubmit={send}>
        <div className="filters">
          <TypeField type={type} onType={setType} />
          <NumberField label="Priority, 8 first" max={8} value={priority} onValue={setPriority} />
          <NumberField label="Delay in seconds" value={delay} onValue={setDelay} />
        </div>
        <JsonField
          label={lastInput === undefined ? 'Input' : 'Input (from the last task of this type)'}
          text={shown}
          onText={setText}
        />
        <ErrorNote error={submit.error} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Back</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={type === '' || 'problem' in input || submit.isPending}
          >
            Submit
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function TypeField({
  type,
  onType,
}: {
  readonly type: string;
  readonly onType: (type: string) => void;
}) {
  const types = useApi('GET /v1/queues', { query: { limit: 1000 } }, { meta: STILL });
  return (
    <>
      <Field label="Type">
        <input
          required
          list="submit-types"
          value={type}
          onChange={(event) => onType(event.target.value)}
        />
      </Field>
      <datalist id="submit-types">
        {types.data?.items.map((queue) => (
          <option key={queue.type} value={queue.type} />
        ))}
      </datalist>
    </>
  );
}

interface NumberProps {
  readonly label: string;
  readonly max?: number;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function NumberField({ label, max, value, onValue }: NumberProps) {
  return (
    <Field label={label}>
      <input
        type="number"
        min={0}
        max={max}
        step="any"
        value={value}
        onChange={(event) => onValue(event.target.value)}
      />
    </Field>
  );
}
