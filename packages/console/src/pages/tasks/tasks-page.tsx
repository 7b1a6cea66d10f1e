/** The live table of tasks. Only rows on the screen are in the page, however many were loaded. */
import { useSearch } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { useMay } from '../../base/caller.tsx';
import { useList } from '../../base/queries.ts';
import { plural } from '../../base/words.ts';
import { Button, Empty, ErrorNote, Loading, PageHead } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { SubmitDialog } from './submit-dialog.tsx';
import { COLUMNS, type ColumnName, columnsOf, type TaskRow } from './task-columns.tsx';
import { queryOf, TaskFilters } from './task-filters.tsx';

const ROW_HEIGHT = 37;
const PAGE = 200;
/** Older tasks are loaded when the reader is this close to the end. */
const ROWS_AHEAD = 30;

export function TasksPage() {
  const search = useSearch({ from: '/tasks' });
  const list = useList('GET /v1/tasks', { query: queryOf(search) }, { limit: PAGE });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isSubmitting, setSubmitting] = useState(false);
  const maySubmit = useMay('submit');
  const isFiltered = Object.keys(search).some((name) => name !== 'columns');
  return (
    <>
      <PageHead
        title="Tasks"
        under={
          <span>Newest first · {list.isLive ? 'live' : 'not live while many are loaded'}</span>
        }
      >
        {maySubmit && (
          <BulkActions
            chosen={list.items.filter(({ id }) => chosen.has(id))}
            search={search}
            onDone={() => setChosen(new Set())}
          />
        )}
        {maySubmit && (
          <Button kind="primary" onClick={() => setSubmitting(true)}>
            Submit a task
          </Button>
        )}
      </PageHead>
      <TaskFilters search={search} />
      <ErrorNote error={list.error} />
      {list.isPending && <Loading />}
      {list.isSuccess && list.items.length === 0 && <NoTasks isFiltered={isFiltered} />}
      {list.items.length > 0 && (
        <TaskTable
          items={list.items}
          columns={search.columns}
          chosen={maySubmit ? chosen : undefined}
          onChosen={setChosen}
          more={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
          isLoading={list.isFetchingNextPage}
        />
      )}
      {isSubmitting && <SubmitDialog type={search.type} onClose={() => setSubmitting(false)} />}
    </>
  );
}

interface TableProps {
  readonly items: readonly TaskRow[];
  readonly columns: string | undefined;
  /** Undefined if the reader may not act on tasks. */
  readonly chosen: ReadonlySet<string> | undefined;
  readonly onChosen: (chosen: ReadonlySet<string>) => void;
  readonly more: (() => void) | undefined;
  readonly isLoading: boolean;
}

function TaskTable({ items, columns, chosen, onChosen, more, isLoading }: TableProps) {
  const frame = useRef<HTMLElement>(null);
  const names = columnsOf(columns);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const shown = rows.getVirtualItems();
  const before = shown.at(0)?.start ?? 0;
  const after = rows.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const lastShown = shown.at(-1)?.index ?? 0;
  const isNearEnd = (rows.scrollOffset ?? 0) > 0 && lastShown >= items.length - ROWS_AHEAD;
  useMore(more, isNearEnd && !isLoading);
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChosen(next);
  };
  const isAll = chosen !== undefined && chosen.size > 0 && items.every(({ id }) => chosen.has(id));
  return (
    <div className="panel">
      <ScrollArea className="table-scroll tall" ref={frame} label="Table of tasks">
        <table aria-rowcount={items.length}>
          <thead>
            <tr>
              {chosen !== undefined && (
                <th>
                  <input
                    type="checkbox"
                    aria-label="Choose all that are shown"
                    checked={isAll}
                    onChange={() => onChosen(new Set(isAll ? [] : items.map(({ id }) => id)))}
                  />
                </th>
              )}
              {names.map((name) => (
                <th key={name} className={classOf(name)}>
                  {COLUMNS[name].name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <Gap height={before} columns={names.length + 1} />}
            {shown.map(({ index }) => (
              <Row
                key={items[index].id}
                task={items[index]}
                names={names}
                isChosen={chosen?.has(items[index].id)}
                onToggle={toggle}
              />
            ))}
            {after > 0 && <Gap height={after} columns={names.length + 1} />}
          </tbody>
        </table>
      </ScrollArea>
      <div className="more row">
        <span className="muted">{plural(items.length, 'task')} loaded</span>
        {more !== undefined && (
          <Button size="small" onClick={more}>
            Load older tasks
          </Button>
        )}
      </div>
    </div>
  );
}

/** Loads the next page once the reader is close to the end. */
function useMore(more: (() => void) | undefined, isWanted: boolean): void {
  useEffect(() => {
    if (isWanted) more?.();
  }, [isWanted, more]);
}

interface RowProps {
  readonly task: TaskRow;
  readonly names: readonly ColumnName[];
  /** Undefined if rows cannot be chosen. */
  readonly isChosen: boolean | undefined;
  readonly onToggle: (id: string) => void;
}

function Row({ task, names, isChosen, onToggle }: RowProps) {
  return (
    <tr style={{ height: ROW_HEIGHT }}>
      {isChosen !== undefined && (
        <td>
          <input
            type="checkbox"
            aria-label={`Choose ${task.id}`}
            checked={isChosen}
            onChange={() => onToggle(task.id)}
          />
        </td>
      )}
      {names.map((name) => (
        <td key={name} className={classOf(name)}>
          {COLUMNS[name].show(task)}
        </td>
      ))}
    </tr>
  );
}

function classOf(name: keyof typeof COLUMNS): string | undefined {
  const column = COLUMNS[name];
  return 'className' in column ? column.className : undefined;
}

/** Room for the rows that are not in the page. */
function Gap({ height, columns }: { readonly height: number; readonly columns: number }) {
  return (
    <tr>
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}

function NoTasks({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <div className="panel">
        <Empty title="No task matches">Take a filter away, or look at an earlier time.</Empty>
      </div>
    );
  }
  const { origin } = window.location;
  return (
    <div className="panel">
      <Empty
        title="No tasks yet"
        lines={[
          ['curl', `curl ${origin}/v1/tasks -d '{"type":"hello","input":{"name":"Ada"}}'`],
          ['Command line', `npx sluice task submit hello --input '{"name":"Ada"}'`],
          ['TypeScript', `await sluice.submit('hello', { name: 'Ada' })`],
        ]}
      >
        A task is one piece of work: a type and an input. Workers register for types and get tasks
        pushed.
      </Empty>
    </div>
  );
}
