/** Every change of a task, and the tries of its callbacks. */
import { useApi } from '../../base/queries.ts';
import { duration, words } from '../../base/words.ts';
import { Loading, Panel, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';

export function HistoryPanel({ id }: { readonly id: string }) {
  const { data } = useApi('GET /v1/tasks/{id}/history', { params: { id } });
  return (
    <Panel title="History" flush={data !== undefined}>
      {data === undefined ? (
        <Loading />
      ) : (
        <ScrollArea className="table-scroll" label="Table of changes">
          <table>
            <thead>
              <tr>
                <th>When</th>
                <th>Became</th>
                <th>Why</th>
                <th>Worker</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((entry, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: entries only grow at the end.
                <tr key={index}>
                  <td className="nowrap">
                    <Time at={entry.at} />
                  </td>
                  <td>
                    <StateBadge state={entry.to ?? ''} />
                  </td>
                  <td className="muted">{words(entry.reason ?? '')}</td>
                  <td className="muted">{entry.worker ?? ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      )}
    </Panel>
  );
}

export function CallbacksPanel({ id, url }: { readonly id: string; readonly url: string }) {
  const { data } = useApi('GET /v1/tasks/{id}/callbacks', { params: { id } });
  return (
    <Panel title="Callbacks" flush={data !== undefined && data.items.length > 0}>
      {data === undefined ? (
        <Loading />
      ) : data.items.length === 0 ? (
        <p className="muted">Nothing was sent to {url} yet.</p>
      ) : (
        <ScrollArea className="table-scroll" label="Table of tries">
          <table>
            <thead>
              <tr>
                <th>When</th>
                <th>About</th>
                <th>Outcome</th>
                <th className="number">Took</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((entry) => (
                <tr key={`${entry.id}${entry.at}`}>
                  <td className="nowrap">
                    <Time at={entry.at} />
                  </td>
                  <td>{entry.type}</td>
                  <td>
                    {words(entry.outcome)}{' '}
                    <span className="muted">{entry.status ?? entry.failure ?? ''}</span>
                  </td>
                  <td className="number">{duration(entry.durationMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      )}
    </Panel>
  );
}
