/** Callbacks that wait or were given up. */
import { Link } from '@tanstack/react-router';
import { useMay } from '../../base/caller.tsx';
import { useAction, useList } from '../../base/queries.ts';
import { words } from '../../base/words.ts';
import { Button, Empty, ErrorNote, Panel, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { notify } from '../../ui/toast.tsx';

export function CallbacksView() {
  const list = useList('GET /v1/callbacks', {}, { limit: 100 });
  return (
    <Panel title="Callbacks that are not delivered" flush={list.items.length > 0}>
      <ErrorNote error={list.error} />
      {list.isSuccess && list.items.length === 0 && (
        <Empty title="All callbacks are delivered">
          A receiver that fails is tried again for 24 hours.
        </Empty>
      )}
      {list.items.length > 0 && (
        <ScrollArea className="table-scroll" label="Table of callbacks">
          <table>
            <thead>
              <tr>
                <th>State</th>
                <th>About</th>
                <th>Address</th>
                <th className="number">Tries</th>
                <th>Failure</th>
                <th>Next try</th>
                <th>
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.items.map((callback) => (
                <tr key={callback.id}>
                  <td>{words(callback.state)}</td>
                  <td>
                    {callback.taskId !== null && (
                      <Link to="/tasks/$id" params={{ id: callback.taskId }}>
                        {callback.type}
                      </Link>
                    )}
                    {callback.runId !== null && (
                      <Link to="/runs/$id" params={{ id: callback.runId }}>
                        {callback.type}
                      </Link>
                    )}
                  </td>
                  <td className="clip">{callback.url}</td>
                  <td className="number">{callback.tries}</td>
                  <td className="muted">{callback.status ?? words(callback.failure ?? '')}</td>
                  <td className="nowrap">
                    <Time at={callback.nextAt} ago />
                  </td>
                  <td>
                    <TryButton id={callback.id} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      )}
    </Panel>
  );
}

function TryButton({ id }: { readonly id: string }) {
  const may = useMay('operate');
  const redeliver = useAction('POST /v1/callbacks/redeliver');
  if (!may) return null;
  const onSuccess = () => notify('It is tried again now');
  return (
    <Button
      size="small"
      title={redeliver.error?.message}
      onClick={() => redeliver.mutate({ body: { ids: [id] } }, { onSuccess })}
    >
      Try now
    </Button>
  );
}
