/** Definitions of workflows with their versions. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Item } from '../../base/api.ts';
import { useMay } from '../../base/caller.tsx';
import { useList } from '../../base/queries.ts';
import { plural } from '../../base/words.ts';
import { Button, Empty, ErrorNote, Loading, PageHead, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { DefinitionEditor } from './definition-editor.tsx';
import { StartDialog } from './start-dialog.tsx';

export function WorkflowsPage() {
  const list = useList('GET /v1/workflows', {}, { limit: 200 });
  const [starting, setStarting] = useState<string>();
  const [isCreating, setCreating] = useState(false);
  const mayStart = useMay('submit');
  const mayOperate = useMay('operate');
  return (
    <>
      <PageHead title="Workflows">
        {mayOperate && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            Write a workflow
          </Button>
        )}
      </PageHead>
      <ErrorNote error={list.error} />
      {list.isPending && <Loading />}
      {list.isSuccess && list.items.length === 0 && <NoWorkflows />}
      {list.items.length > 0 && (
        <WorkflowTable workflows={list.items} onStart={mayStart ? setStarting : undefined} />
      )}
      {starting !== undefined && (
        <StartDialog name={starting} onClose={() => setStarting(undefined)} />
      )}
      {isCreating && <DefinitionEditor onClose={() => setCreating(false)} />}
    </>
  );
}

interface TableProps {
  readonly workflows: readonly Item<'GET /v1/workflows'>[];
  /** Undefined if the reader may not start runs. */
  readonly onStart: ((name: string) => void) | undefined;
}

function WorkflowTable({ workflows, onStart }: TableProps) {
  return (
    <ScrollArea className="panel table-scroll" label="Table of workflows">
      <table>
        <thead>
          <tr>
            <th>Workflow</th>
            <th>Newest version</th>
            <th>Steps</th>
            <th>Registered</th>
            <th>Versions</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {workflows.map(({ name, versions }) => (
            <tr key={name}>
              <td className="clip">
                <Link to="/workflows/$name" params={{ name }}>
                  {name}
                </Link>
              </td>
              <td>{versions[0]?.version}</td>
              <td>{plural(versions[0]?.steps ?? 0, 'step')}</td>
              <td className="nowrap">
                <Time at={versions[0]?.registeredAt ?? null} ago />
              </td>
              <td>{versions.length}</td>
              <td className="row">
                <Link to="/runs" search={{ workflow: name }}>
                  Runs
                </Link>
                {onStart !== undefined && (
                  <Button size="small" aria-label={`Start ${name}`} onClick={() => onStart(name)}>
                    Start
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

function NoWorkflows() {
  return (
    <div className="panel">
      <Empty
        title="No workflows yet"
        lines={[
          ['Register a file', 'npx sluice workflow apply my-workflow.json'],
          [
            'With the SDK',
            `await sluice.start(defineWorkflow('greet', { version: 1 }, (w) => w.step('hello', 'hello', {})), {})`,
          ],
        ]}
      >
        A workflow is a graph of steps, in Conductor’s JSON or with the builder of the SDK. Its runs
        survive restarts.
      </Empty>
    </div>
  );
}
