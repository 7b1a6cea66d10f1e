/** One workflow: its versions, the graph of one, and what changed between two. */
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useMay } from '../../base/caller.tsx';
import { STILL } from '../../base/live.ts';
import { useApi } from '../../base/queries.ts';
import { plural } from '../../base/words.ts';
import { blocksOf } from '../../graph/definition.ts';
import { GraphView } from '../../graph/graph-view.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Button, ErrorNote, Field, Loading, PageHead, Panel, Time } from '../../ui/parts.tsx';
import { DefinitionEditor } from './definition-editor.tsx';
import { Difference } from './difference.tsx';
import { StartDialog } from './start-dialog.tsx';

export function WorkflowPage() {
  const { name } = useParams({ from: '/workflows/$name' });
  const { version, against } = useSearch({ from: '/workflows/$name' });
  const { data, error } = useApi('GET /v1/workflows/{name}', { params: { name } });
  const [doing, setDoing] = useState<'start' | 'edit'>();
  const mayStart = useMay('submit');
  const mayOperate = useMay('operate');
  if (data === undefined || data.name !== name) {
    return error === null ? <Loading /> : <ErrorNote error={error} />;
  }
  const newest = data.versions[0].version;
  const shown = Number(version ?? newest);
  return (
    <>
      <nav className="crumbs" aria-label="Where this is">
        <Link to="/workflows">Workflows</Link> /
      </nav>
      <PageHead title={name} under={<span>{plural(data.versions.length, 'version')}</span>}>
        <Link className="button" to="/runs" search={{ workflow: name }}>
          Runs
        </Link>
        {mayOperate && <Button onClick={() => setDoing('edit')}>Write a new version</Button>}
        {mayStart && (
          <Button kind="primary" onClick={() => setDoing('start')}>
            Start a run
          </Button>
        )}
      </PageHead>
      <div className="stack">
        <Versions name={name} versions={data.versions} shown={shown} against={against} />
        <Version
          name={name}
          version={shown}
          against={against === undefined ? undefined : Number(against)}
        />
      </div>
      {doing === 'start' && (
        <StartDialog name={name} version={shown} onClose={() => setDoing(undefined)} />
      )}
      {doing === 'edit' && (
        <DefinitionEditor
          name={name}
          from={shown}
          next={newest + 1}
          onClose={() => setDoing(undefined)}
        />
      )}
    </>
  );
}

interface VersionsProps {
  readonly name: string;
  readonly versions: readonly {
    readonly version: number;
    readonly steps: number;
    readonly registeredAt: string;
  }[];
  readonly shown: number;
  readonly against: string | undefined;
}

function Versions({ name, versions, shown, against }: VersionsProps) {
  const navigate = useNavigate();
  const current = versions.find(({ version }) => version === shown);
  const go = (search: { version?: string; against?: string | undefined }) =>
    void navigate({ to: '/workflows/$name', params: { name }, search, replace: true });
  return (
    <div className="filters">
      <Field label="Version">
        <select value={shown} onChange={(event) => go({ version: event.target.value, against })}>
          {versions.map(({ version }) => (
            <option key={version}>{version}</option>
          ))}
        </select>
      </Field>
      {versions.length > 1 && (
        <Field label="Compare with">
          <select
            value={against ?? ''}
            onChange={(event) =>
              go({ version: String(shown), against: event.target.value || undefined })
            }
          >
            <option value="">none</option>
            {versions
              .filter(({ version }) => version !== shown)
              .map(({ version }) => (
                <option key={version}>{version}</option>
              ))}
          </select>
        </Field>
      )}
      {current !== undefined && (
        <span className="muted">
          {plural(current.steps, 'step')}, registered <Time at={current.registeredAt} ago />
        </span>
      )}
    </div>
  );
}

interface VersionProps {
  readonly name: string;
  readonly version: number;
  readonly against: number | undefined;
}

function Version({ name, version, against }: VersionProps) {
  const { data, error } = useApi(
    'GET /v1/workflows/{name}/versions/{version}',
    { params: { name, version } },
    { meta: STILL },
  );
  const blocks = useMemo(() => blocksOf(data?.definition), [data]);
  const [chosen, setChosen] = useState<string>();
  if (data === undefined) return error === null ? <Loading /> : <ErrorNote error={error} />;
  return (
    <>
      {against !== undefined && <Difference name={name} older={against} newer={version} />}
      <Panel title="Graph">
        <GraphView blocks={blocks} chosen={chosen} onChoose={setChosen} />
      </Panel>
      <Panel title={chosen === undefined ? 'Definition' : `Definition of ${chosen}`}>
        <JsonTree
          value={chosen === undefined ? data.definition : stepIn(data.definition, chosen)}
          label="Definition"
        />
      </Panel>
    </>
  );
}

/** The part of a definition with this reference. */
function stepIn(definition: unknown, reference: string): unknown {
  const pending: unknown[] = [definition];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ((value as Record<string, unknown>).taskReferenceName === reference) return value;
    pending.push(...Object.values(value));
  }
  return definition;
}
