/** Runs of workflows, newest first, each with what its steps have become. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Item } from '../../base/api.ts';
import { useMay } from '../../base/caller.tsx';
import { useApi, useList } from '../../base/queries.ts';
import { plural, words } from '../../base/words.ts';
import { Button, Empty, ErrorNote, Field, Loading, PageHead, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';
import { tookOf } from './run.ts';
import { StepCounts } from './step-counts.tsx';

const STATUSES = ['running', 'paused', 'succeeded', 'failed', 'timed_out', 'cancelled'];

type RunRow = Item<'GET /v1/runs'>;

interface RunSearch {
  readonly workflow?: string;
  readonly status?: string;
  readonly tag?: string;
  readonly correlationId?: string;
  readonly since?: string;
}

function queryOf({ tag, ...rest }: RunSearch): Record<string, string | undefined> {
  const [name, ...value] = (tag ?? '').split('=');
  return { ...rest, ...(name === '' ? {} : { [`tag.${name}`]: value.join('=') }) };
}

export function RunsPage() {
  const search = useSearch({ from: '/runs' });
  const list = useList('GET /v1/runs', { query: queryOf(search) });
  const isFiltered = Object.keys(search).length > 0;
  const mayStart = useMay('submit');
  return (
    <>
      <PageHead title="Runs" under={<span>Newest first · live</span>}>
        {mayStart && (
          <Link className="button" data-kind="primary" to="/workflows">
            Start a run
          </Link>
        )}
      </PageHead>
      <RunFilters search={search} />
      <ErrorNote error={list.error} />
      {list.isPending && <Loading />}
      {list.isSuccess && list.items.length === 0 && <NoRuns isFiltered={isFiltered} />}
      {list.items.length > 0 && (
        <div className="panel">
          <RunTable runs={list.items} />
          {list.hasNextPage && (
            <div className="more">
              <Button size="small" onClick={() => void list.fetchNextPage()}>
                Load older runs
              </Button>
              <span className="muted"> {plural(list.items.length, 'run')} loaded</span>
            </div>
          )}
        </div>
      )}
    </>
  );
}

function RunTable({ runs }: { readonly runs: readonly RunRow[] }) {
  return (
    <ScrollArea className="table-scroll" label="Table of runs">
      <table>
        <thead>
          <tr>
            <th>Status</th>
            <th>Workflow</th>
            <th>Id</th>
            <th>Steps</th>
            <th>Started</th>
            <th className="number">Took</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <td>
                <StateBadge
                  state={run.status}
                  note={run.endingAs === undefined ? '' : `ending as ${run.endingAs}`}
                />
              </td>
              <td className="clip">
                <Link to="/runs/$id" params={{ id: run.id }}>
                  {run.workflow}
                </Link>
                <span className="muted"> {run.version === null ? '' : `v${run.version}`}</span>
              </td>
              <td>
                <code className="muted">{run.id}</code>
              </td>
              <td>
                <StepCounts counts={run.counts} />
              </td>
              <td className="nowrap">
                <Time at={run.startedAt} ago />
              </td>
              <td className="number nowrap">{tookOf(run.startedAt, run.endedAt)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

function RunFilters({ search }: { readonly search: RunSearch }) {
  const navigate = useNavigate();
  const workflows = useApi('GET /v1/workflows', { query: { limit: 1000 } });
  const set = (change: Partial<RunSearch>) =>
    void navigate({ to: '/runs', search: { ...search, ...change }, replace: true });
  return (
    <search className="filters">
      <Field label="Workflow">
        <input
          list="workflow-names"
          placeholder="any"
          value={search.workflow ?? ''}
          onChange={(event) => set({ workflow: event.target.value || undefined })}
        />
      </Field>
      <datalist id="workflow-names">
        {workflows.data?.items.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Field label="Status">
        <select
          value={search.status ?? ''}
          onChange={(event) => set({ status: event.target.value || undefined })}
        >
          <option value="">any</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {words(status)}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Correlation id">
        <input
          type="search"
          value={search.correlationId ?? ''}
          onChange={(event) => set({ correlationId: event.target.value || undefined })}
        />
      </Field>
      {Object.keys(search).length > 0 && (
        <Button kind="ghost" onClick={() => void navigate({ to: '/runs', search: {} })}>
          Clear
        </Button>
      )}
    </search>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <div className="panel">
      {isFiltered ? (
        <Empty title="No run matches">Take a filter away.</Empty>
      ) : (
        <Empty
          title="No runs yet"
          lines={[
            ['Register a workflow', 'npx sluice workflow apply my-workflow.json'],
            ['Start it', `npx sluice workflow start my-workflow --input '{"name":"Ada"}'`],
          ]}
        >
          A run follows a workflow: a graph of steps with joins, conditions, loops and waits.
        </Empty>
      )}
    </div>
  );
}
