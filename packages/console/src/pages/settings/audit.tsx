/** Who changed what, newest first. */
import { useNavigate } from '@tanstack/react-router';
import type { Item } from '../../base/api.ts';
import { useList } from '../../base/queries.ts';
import { words } from '../../base/words.ts';
import { Button, Empty, ErrorNote, Field, Panel, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';

interface AuditProps {
  readonly action: string | undefined;
  readonly actor: string | undefined;
}

interface TableProps {
  readonly records: readonly Item<'GET /v1/audit'>[];
  readonly onActor: (actor: string) => void;
}

function AuditTable({ records, onActor }: TableProps) {
  return (
    <ScrollArea className="table-scroll" label="Table of records">
      <table>
        <thead>
          <tr>
            <th>When</th>
            <th>Action</th>
            <th>Subject</th>
            <th>Detail</th>
            <th>Key</th>
            <th>From</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <tr key={record.id}>
              <td className="nowrap">
                <Time at={record.at} />
              </td>
              <td className="nowrap">{words(record.action)}</td>
              <td className="clip">{record.subject}</td>
              <td className="clip muted">{record.detail}</td>
              <td>
                <Button kind="ghost" size="small" onClick={() => onActor(record.actor)}>
                  {record.actor}
                </Button>
              </td>
              <td className="muted">{record.address}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

export function AuditView({ action, actor }: AuditProps) {
  const navigate = useNavigate();
  const list = useList('GET /v1/audit', { query: { action, actor } }, { limit: 100 });
  const set = (change: Partial<AuditProps>) =>
    void navigate({
      to: '/settings',
      search: { view: 'audit', action, actor, ...change },
      replace: true,
    });
  const known = [...new Set(list.items.map((record) => record.action))].sort();
  return (
    <>
      <search className="filters">
        <Field label="Action">
          <input
            list="actions"
            value={action ?? ''}
            placeholder="any"
            onChange={(event) => set({ action: event.target.value || undefined })}
          />
        </Field>
        <datalist id="actions">
          {known.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </datalist>
        <Field label="Key">
          <input
            type="search"
            value={actor ?? ''}
            placeholder="any"
            onChange={(event) => set({ actor: event.target.value || undefined })}
          />
        </Field>
      </search>
      <Panel title="Audit trail" flush={list.items.length > 0}>
        <ErrorNote error={list.error} />
        {list.isSuccess && list.items.length === 0 && (
          <Empty title="No records">
            Each change for a type, a queue, a worker, a key, a workflow or a schedule leaves one.
          </Empty>
        )}
        {list.items.length > 0 && (
          <AuditTable records={list.items} onActor={(next) => set({ actor: next })} />
        )}
        {list.hasNextPage && (
          <div className="more">
            <Button size="small" onClick={() => void list.fetchNextPage()}>
              Load older records
            </Button>
          </div>
        )}
      </Panel>
    </>
  );
}
