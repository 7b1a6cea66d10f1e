/**
 * An editor for a definition, as JSON or YAML. The server checks it while one types: every problem
 * has the path of its step.
 */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, lazy, Suspense, useDeferredValue, useMemo, useState } from 'react';
import { ApiError, api } from '../../base/api.ts';
import { STILL } from '../../base/live.ts';
import { useAction, useApi } from '../../base/queries.ts';
import type { Problem } from '../../editor/problem-places.ts';
import { blocksOf } from '../../graph/definition.ts';
import { GraphView } from '../../graph/graph-view.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { type Parsed, parsedJson } from '../../ui/json-field.tsx';
import { Button, ErrorNote, Field } from '../../ui/parts.tsx';
import { notify } from '../../ui/toast.tsx';

const CodeEditor = lazy(async () => {
  return { default: (await import('../../editor/code-editor.tsx')).CodeEditor };
});

const FIRST = {
  tasks: [
    {
      name: 'hello',
      taskReferenceName: 'greet',
      inputParameters: { name: '${workflow.input.name}' },
    },
  ],
};

interface EditorProps {
  readonly name?: string;
  /** The version to begin with. */
  readonly from?: number;
  readonly next?: number;
  readonly onClose: () => void;
}

export function DefinitionEditor({ name: known, from, next = 1, onClose }: EditorProps) {
  const start = useApi(
    'GET /v1/workflows/{name}/versions/{version}',
    { params: { name: known ?? '', version: from ?? 1 } },
    { enabled: known !== undefined && from !== undefined, meta: STILL },
  );
  const [name, setName] = useState(known ?? '');
  const [version, setVersion] = useState(String(next));
  const [typed, setText] = useState<string>();
  const navigate = useNavigate();
  const text = typed ?? JSON.stringify(start.data?.definition ?? FIRST, undefined, 2);
  const parsed = useParsed(text);
  const check = useCheck(name, version, parsed);
  const problems = useProblems(check.error, check.data?.warnings);
  const put = useAction('PUT /v1/workflows/{name}/versions/{version}');
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!('value' in parsed)) return;
    const onSuccess = () => {
      notify(`Registered version ${version} of ${name}`);
      onClose();
      void navigate({ to: '/workflows/$name', params: { name }, search: { version } });
    };
    put.mutate({ params: { name, version }, body: parsed.value as never }, { onSuccess });
  };
  return (
    <Dialog
      title={known === undefined ? 'Write a workflow' : `A new version of ${known}`}
      onClose={onClose}
      wide
    >
      <form className="form" onSubmit={save}>
        <NameFields
          name={known === undefined ? name : undefined}
          version={version}
          onName={setName}
          onVersion={setVersion}
        />
        <div className="field">
          <span>{LABEL}</span>
          <Suspense fallback={<pre className="code-editor">{text}</pre>}>
            <CodeEditor label={LABEL} text={text} onText={setText} problems={problems} />
          </Suspense>
        </div>
        <Verdict
          parsed={parsed}
          error={check.error}
          isChecked={check.isSuccess}
          warnings={check.data?.warnings ?? []}
        />
        {'value' in parsed && <EditorGraph definition={parsed.value} />}
        <ErrorNote error={put.error} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Back</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={!check.isSuccess || name === '' || put.isPending}
          >
            Register
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const LABEL = 'Definition, JSON or YAML';

type Warnings = readonly { readonly path: string; readonly message: string }[];

/** What the server says, with the path of each problem. */
function useProblems(error: Error | null, warnings: Warnings | undefined): readonly Problem[] {
  return useMemo(() => {
    if (error instanceof ApiError) {
      return error.details.map(({ path, problem }) => {
        return { path, message: problem, severity: 'error' as const };
      });
    }
    return (warnings ?? []).map((warning) => ({ ...warning, severity: 'warning' as const }));
  }, [error, warnings]);
}

function EditorGraph({ definition }: { readonly definition: unknown }) {
  const blocks = useMemo(() => blocksOf(definition), [definition]);
  return blocks.length === 0 ? null : <GraphView blocks={blocks} />;
}

/** YAML is loaded when somebody writes it: most definitions are JSON. */
function useParsed(text: string): Parsed {
  const isJson = /^\s*[{[]/.test(text);
  const yaml = useQuery({
    queryKey: ['yaml', text],
    enabled: !isJson,
    meta: STILL,
    queryFn: async (): Promise<Parsed> => {
      const { parse } = await import('yaml');
      try {
        return { value: parse(text) as unknown };
      } catch (cause) {
        return { problem: (cause as Error).message };
      }
    },
  });
  return useMemo(
    () => (isJson ? parsedJson(text) : (yaml.data ?? { problem: 'reading …' })),
    [isJson, text, yaml.data],
  );
}

function useCheck(name: string, version: string, parsed: Parsed) {
  const value = useDeferredValue('value' in parsed ? parsed.value : undefined);
  return useQuery({
    queryKey: ['check', name, version, value],
    enabled: value !== undefined && Number(version) > 0,
    meta: STILL,
    retry: false,
    queryFn: ({ signal }) =>
      api('PUT /v1/workflows/{name}/versions/{version}', {
        params: { name: name === '' ? 'unnamed' : name, version },
        query: { dryRun: 'true' },
        body: value as never,
        signal,
      }),
  });
}

interface VerdictProps {
  readonly parsed: Parsed;
  readonly error: Error | null;
  readonly isChecked: boolean;
  readonly warnings: Warnings;
}

function Verdict({ parsed, error, isChecked, warnings }: VerdictProps) {
  if ('problem' in parsed) {
    return (
      <div className="note" data-tone="bad" role="status">
        {parsed.problem}
      </div>
    );
  }
  if (error instanceof ApiError) {
    // The message repeats the first of its details.
    return error.details.length === 0 ? (
      <ErrorNote error={error} />
    ) : (
      <div className="note" data-tone="bad" role="alert">
        <strong data-tone="bad">The definition is not valid</strong>
        <ul>
          {error.details.map(({ path, problem }) => (
            <li key={`${path} ${problem}`}>
              <code>{path === '' ? '/' : path}</code> {problem}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  if (!isChecked) return null;
  return (
    <div className="note" data-tone={warnings.length === 0 ? 'good' : 'warn'} role="status">
      {warnings.length === 0
        ? 'The definition is valid.'
        : 'Valid, but these fields have no effect:'}
      <ul>
        {warnings.map(({ path, message }) => (
          <li key={path}>
            <code>{path}</code> {message}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface NameProps {
  /** Undefined if the name is given. */
  readonly name: string | undefined;
  readonly version: string;
  readonly onName: (name: string) => void;
  readonly onVersion: (version: string) => void;
}

function NameFields({ name, version, onName, onVersion }: NameProps) {
  return (
    <div className="filters">
      {name !== undefined && (
        <Field label="Name">
          <input required value={name} onChange={(event) => onName(event.target.value)} />
        </Field>
      )}
      <Field label="Version">
        <input
          type="number"
          min={1}
          required
          value={version}
          onChange={(event) => onVersion(event.target.value)}
        />
      </Field>
    </div>
  );
}
