/** Starts a run: with a form made from the input schema, or with the last input. */
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { STILL } from '../../base/live.ts';
import { useAction, useApi } from '../../base/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonField, parsedJson } from '../../ui/json-field.tsx';
import { Button, ErrorNote, Field, Loading } from '../../ui/parts.tsx';
import { enteredValue, type FormField, formFields } from './input-form.ts';

interface StartProps {
  readonly name: string;
  readonly version?: number;
  readonly onClose: () => void;
}

export function StartDialog({ name, version, onClose }: StartProps) {
  const workflow = useApi('GET /v1/workflows/{name}', { params: { name } }, { meta: STILL });
  const last = useApi('GET /v1/runs', { query: { workflow: name, limit: 1 } }, { meta: STILL });
  const number = version ?? workflow.data?.versions[0]?.version;
  const definition = useApi(
    'GET /v1/workflows/{name}/versions/{version}',
    { params: { name, version: number ?? 1 } },
    { enabled: number !== undefined, meta: STILL },
  );
  if (last.data === undefined || definition.data === undefined) {
    return (
      <Dialog title={`Start ${name}`} onClose={onClose} wide>
        <Loading />
        <ErrorNote error={workflow.error ?? last.error ?? definition.error} />
      </Dialog>
    );
  }
  const fields = formFields((definition.data.definition as { inputSchema?: unknown }).inputSchema);
  const lastInput = last.data.items.at(0)?.input;
  return (
    <StartForm
      name={name}
      version={number ?? 1}
      fields={fields}
      lastInput={lastInput}
      onClose={onClose}
    />
  );
}

interface FormProps {
  readonly name: string;
  readonly version: number;
  readonly fields: readonly FormField[] | undefined;
  readonly lastInput: unknown;
  readonly onClose: () => void;
}

function StartForm({ name, version, fields, lastInput, onClose }: FormProps) {
  const navigate = useNavigate();
  const [text, setText] = useState(() => JSON.stringify(lastInput ?? {}, undefined, 2));
  const parsed = parsedJson(text);
  const start = useAction('POST /v1/runs');
  const send = (event: FormEvent) => {
    event.preventDefault();
    if ('problem' in parsed) return;
    const body = { workflow: name, version, input: parsed.value };
    start.mutate(
      { body },
      {
        onSuccess: (made) => {
          onClose();
          if ('id' in made) void navigate({ to: '/runs/$id', params: { id: made.id } });
        },
      },
    );
  };
  const values = 'value' in parsed && isFields(parsed.value) ? parsed.value : {};
  const set = (field: FormField, entered: string) => {
    const next = { ...values, [field.name]: enteredValue(field, entered) };
    setText(JSON.stringify(next, undefined, 2));
  };
  return (
    <Dialog title={`Start ${name}, version ${version}`} onClose={onClose} wide>
      <form className="form" onSubmit={send}>
        {fields !== undefined && (
          <div className="form-grid">
            {fields.map((field) => (
              <FieldInput
                key={field.name}
                field={field}
                value={values[field.name]}
                onValue={(entered) => set(field, entered)}
              />
            ))}
          </div>
        )}
        <JsonField
          label={lastInput === undefined ? 'Input' : 'Input (from the last run)'}
          rows={fields === undefined ? 10 : 6}
          text={text}
          onText={setText}
        />
        <ErrorNote error={start.error} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" type="submit" disabled={'problem' in parsed || start.isPending}>
            Start the run
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface FieldProps {
  readonly field: FormField;
  readonly value: unknown;
  readonly onValue: (text: string) => void;
}

function FieldInput({ field, value, onValue }: FieldProps) {
  const { name, kind, choices, isRequired, hint } = field;
  const text = value === undefined ? '' : String(value);
  const label = isRequired ? `${name} (required)` : name;
  const choice = kind === 'boolean' ? ['true', 'false'] : choices;
  return (
    <Field label={label} hint={hint}>
      {choice.length > 0 ? (
        <select
          required={isRequired}
          value={text}
          onChange={(event) => onValue(event.target.value)}
        >
          <option value="">–</option>
          {choice.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      ) : (
        <input
          type={kind === 'number' ? 'number' : 'text'}
          step="any"
          required={isRequired}
          value={text}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}
