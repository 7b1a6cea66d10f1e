/** Why a task is not running, worker by worker, in the words of the scheduler itself. */

import { VOLATILE } from '../../base/live.ts';
import { useApi } from '../../base/queries.ts';
import { plural, words } from '../../base/words.ts';
import { ErrorNote, Panel } from '../../ui/parts.tsx';

export function ExplainPanel({ id }: { readonly id: string }) {
  const { data, error } = useApi(
    'GET /v1/tasks/{id}/explain',
    { params: { id } },
    { meta: VOLATILE },
  );
  if (data === undefined) return <ErrorNote error={error} />;
  return (
    <Panel title="Why isn’t it running?">
      <ul className="reasons">
        {data.reasons.map(({ code, message, worker }) => (
          <li key={`${code}${worker ?? ''}`}>
            <span className="tag">{words(code)}</span>
            <span>
              {worker !== undefined && <strong>{worker}: </strong>}
              {message}
            </span>
          </li>
        ))}
      </ul>
      {data.workersNotShown > 0 && (
        <p className="muted">{plural(data.workersNotShown, 'more worker')} with the same answer.</p>
      )}
    </Panel>
  );
}
