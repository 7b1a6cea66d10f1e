/** The command palette: jump to a page, an id, a type, a workflow or a schedule. */
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { STILL } from '../base/live.ts';
import { useApi } from '../base/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { PLACES } from './places.ts';

interface Target {
  readonly name: string;
  readonly kind: string;
  readonly go: () => void;
}

const SHOWN_MAX = 12;
const MANY = { query: { limit: 200 } };

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [place, setPlace] = useState(0);
  const id = useId();
  const targets = useTargets(text.trim()).slice(0, SHOWN_MAX);
  const chosen = Math.min(place, targets.length - 1);
  const go = (target: Target | undefined) => {
    if (target === undefined) return;
    onClose();
    target.go();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setPlace((chosen + step + targets.length) % Math.max(1, targets.length));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      go(targets[chosen]);
    }
  };
  return (
    <Dialog title="Jump to" onClose={onClose}>
      <div className="palette stack">
        <input
          autoFocus
          role="combobox"
          aria-label="Page, id, type, workflow or schedule"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={targets.length === 0 ? undefined : `${id}-${chosen}`}
          placeholder="A page, an id, a type, a workflow, a schedule"
          value={text}
          onKeyDown={onKey}
          onChange={(event) => {
            setText(event.target.value);
            setPlace(0);
          }}
        />
        <div id={id} role="listbox" aria-label="Places">
          {targets.map((target, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field.
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
            <div
              key={`${target.kind} ${target.name}`}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              onClick={() => go(target)}
              onPointerMove={() => setPlace(index)}
            >
              {target.name}
              <span className="muted small">{target.kind}</span>
            </div>
          ))}
        </div>
        {targets.length === 0 && <p className="muted">Nothing has this name.</p>}
      </div>
    </Dialog>
  );
}

function useTargets(text: string): Target[] {
  const navigate = useNavigate();
  const queues = useApi('GET /v1/queues', MANY, { meta: STILL });
  const workflows = useApi('GET /v1/workflows', MANY, { meta: STILL });
  const schedules = useApi('GET /v1/schedules', MANY, { meta: STILL });
  const places = PLACES.map(
    ({ to, name }): Target => ({ name, kind: 'page', go: () => void navigate({ to }) }),
  );
  const types = (queues.data?.items ?? []).map(
    ({ type }): Target => ({
      name: type,
      kind: 'tasks of this type',
      go: () => void navigate({ to: '/tasks', search: { type } }),
    }),
  );
  const flows = (workflows.data?.items ?? []).map(
    ({ name }): Target => ({
      name,
      kind: 'workflow',
      go: () => void navigate({ to: '/workflows/$name', params: { name } }),
    }),
  );
  const plans = (schedules.data?.items ?? []).map(
    ({ id }): Target => ({
      name: id,
      kind: 'schedule',
      go: () => void navigate({ to: '/schedules/$id', params: { id } }),
    }),
  );
  const wanted = text.toLowerCase();
  const named = [...places, ...types, ...flows, ...plans].filter(({ name }) =>
    name.toLowerCase().includes(wanted),
  );
  return [...idTargets(text, navigate), ...named];
}

/** An id says by its first letter what it is of. */
function idTargets(text: string, navigate: ReturnType<typeof useNavigate>): Target[] {
  if (/^t_\w{6,}$/.test(text)) {
    return [
      {
        name: text,
        kind: 'task',
        go: () => void navigate({ to: '/tasks/$id', params: { id: text } }),
      },
    ];
  }
  if (/^r_\w{6,}$/.test(text)) {
    return [
      {
        name: text,
        kind: 'run',
        go: () => void navigate({ to: '/runs/$id', params: { id: text } }),
      },
    ];
  }
  return [];
}
