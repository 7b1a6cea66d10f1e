/** Filters of the list of tasks. They are the address of the page. */
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../../base/queries.ts';
import { words } from '../../base/words.ts';
import { Button, Field } from '../../ui/parts.tsx';
import { COLUMNS, type ColumnName, columnsOf } from './task-columns.tsx';

export interface TaskSearch {
  readonly type?: string;
  readonly state?: string;
  readonly tag?: string;
  readonly q?: string;
  readonly since?: string;
  readonly until?: string;
  readonly parent?: string;
  readonly columns?: string;
}

const STATES = [
  'waiting',
  'queued',
  'leased',
  'running',
  'paused',
  'succeeded',
  'failed',
  'timed_out',
  'expired',
  'cancelled',
];

/** What is sent with the call: a tag `a=b` becomes `tag.a=b`. */
export function queryOf({
  tag,
  columns: _,
  ...rest
}: TaskSearch): Record<string, string | undefined> {
  const [name, ...value] = (tag ?? '').split('=');
  return { ...rest, ...(name === '' ? {} : { [`tag.${name}`]: value.join('=') }) };
}

export function TaskFilters({ search }: { readonly search: TaskSearch }) {
  const navigate = useNavigate();
  const types = useApi('GET /v1/queues', { query: { limit: 1000 } });
  const set = (change: Partial<TaskSearch>) =>
    void navigate({ to: '/tasks', search: { ...search, ...change }, replace: true });
  const isFiltered = Object.keys(search).some((name) => name !== 'columns');
  return (
    <search className="filters">
      <Field label="Type">
        <input
          list="task-types"
          value={search.type ?? ''}
          placeholder="any"
          onChange={(event) => set({ type: event.target.value || undefined })}
        />
      </Field>
      <datalist id="task-types">
        {types.data?.items.map(({ type }) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <Field label="State">
        <select
          value={search.state ?? ''}
          onChange={(event) => set({ state: event.target.value || undefined })}
        >
          <option value="">any</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {words(state)}
            </option>
          ))}
        </select>
      </Field>
      <Typed
        label="Text"
        placeholder="in input, output, error"
        value={search.q}
        onValue={(q) => set({ q })}
      />
      <Typed
        label="Tag"
        placeholder="name=value"
        value={search.tag}
        onValue={(tag) => set({ tag })}
      />
      <Field label="Since">
        <input
          type="datetime-local"
          value={localOf(search.since)}
          onChange={(event) => set({ since: isoOf(event.target.value) })}
        />
      </Field>
      <ColumnChoice search={search} onChoice={(columns) => set({ columns })} />
      {isFiltered && (
        <Button kind="ghost" onClick={() => void navigate({ to: '/tasks', search: {} })}>
          Clear
        </Button>
      )}
    </search>
  );
}

interface TypedProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  readonly onValue: (value: string | undefined) => void;
}

/** A text that counts when it is finished: each change would be a search. */
function Typed({ label, placeholder, value, onValue }: TypedProps) {
  return (
    <Field label={label}>
      <input
        key={value}
        type="search"
        placeholder={placeholder}
        defaultValue={value ?? ''}
        onBlur={(event) => onValue(event.target.value || undefined)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onValue(event.currentTarget.value || undefined);
        }}
      />
    </Field>
  );
}

function ColumnChoice({
  search,
  onChoice,
}: {
  readonly search: TaskSearch;
  readonly onChoice: (columns: string) => void;
}) {
  const chosen = columnsOf(search.columns);
  const toggle = (name: ColumnName) => {
    const next = chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name];
    const order = Object.keys(COLUMNS) as ColumnName[];
    onChoice(order.filter((each) => next.includes(each)).join(','));
  };
  return (
    <details className="choice">
      <summary className="button">Columns</summary>
      <div className="choice-list panel">
        {(Object.keys(COLUMNS) as ColumnName[]).map((name) => (
          <label key={name} className="row">
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
            {COLUMNS[name].name}
          </label>
        ))}
      </div>
    </details>
  );
}

function isoOf(local: string): string | undefined {
  return local === '' ? undefined : new Date(local).toISOString();
}

function localOf(iso: string | undefined): string {
  if (iso === undefined || Number.isNaN(Date.parse(iso))) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
