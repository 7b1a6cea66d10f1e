/** The newest runs and tasks, so that a newcomer sees what the server does. */
import { Link } from '@tanstack/react-router';
import { useApi } from '../../base/queries.ts';
import { Empty, Loading, Panel, Time } from '../../ui/parts.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';

const SHOWN = 8;
/** Tasks of runs are among them, and are not shown. */
const LOOKED_AT = 100;

export function LatestPanel() {
  const runs = useApi('GET /v1/runs', { query: { limit: SHOWN } });
  const tasks = useApi('GET /v1/tasks', { query: { limit: LOOKED_AT } });
  if (runs.data === undefined || tasks.data === undefined) {
    return (
      <Panel title="Latest">
        <Loading />
      </Panel>
    );
  }
  const entries = [
    ...runs.data.items.map(({ id, workflow, status, startedAt }) => ({
      id,
      name: workflow,
      state: status,
      at: startedAt,
      to: '/runs/$id' as const,
    })),
    ...tasks.data.items
      .filter(({ runId }) => runId === undefined)
      .map(({ id, type, state, submittedAt }) => ({
        id,
        name: type,
        state,
        at: submittedAt,
        to: '/tasks/$id' as const,
      })),
  ].sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? 1 : -1));
  return (
    <Panel title="Latest runs and tasks" flush={entries.length > 0}>
      {entries.length === 0 ? (
        <FirstSteps />
      ) : (
        <table>
          <thead className="visually-hidden">
            <tr>
              <th>Name</th>
              <th>State</th>
              <th>When</th>
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, SHOWN).map(({ id, name, state, at, to }) => (
              <tr key={id}>
                <td className="clip">
                  <Link to={to} params={{ id }}>
                    {name}
                  </Link>{' '}
                  <span className="muted small">{to === '/runs/$id' ? 'run' : 'task'}</span>
                </td>
                <td>
                  <StateBadge state={state} />
                </td>
                <td className="nowrap muted">
                  <Time at={at} ago />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function FirstSteps() {
  const { origin } = window.location;
  const body = `'{"type":"hello","input":{"name":"Ada"}}'`;
  return (
    <Empty
      title="Nothing has happened yet"
      lines={[
        ['Submit a task', `curl ${origin}/v1/tasks -d ${body}`],
        ['The same with the command line', `npx sluice task submit hello --input '{"name":"Ada"}'`],
      ]}
    >
      A task waits in the queue of its type until a worker that runs this type has room for it.
    </Empty>
  );
}
