/** The columns of the table of tasks. The reader chooses; the choice is in the address. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Item } from '../../base/api.ts';
import { duration } from '../../base/words.ts';
import { oneLine } from '../../ui/json-text.ts';
import { Tags, Time } from '../../ui/parts.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';

export type TaskRow = Item<'GET /v1/tasks'>;

interface Column {
  readonly name: string;
  readonly className?: string;
  readonly show: (task: TaskRow) => ReactNode;
}

export const COLUMNS = {
  state: {
    name: 'State',
    show: ({ state, reason }) => <StateBadge state={state} note={noteOf(state, reason)} />,
  },
  type: {
    name: 'Task',
    className: 'clip',
    show: ({ id, type }) => (
      <Link to="/tasks/$id" params={{ id }}>
        {type}
      </Link>
    ),
  },
  id: { name: 'Id', show: ({ id }) => <code className="muted">{id}</code> },
  priority: { name: 'Priority', className: 'number', show: ({ priority }) => priority },
  attempt: {
    name: 'Attempts',
    className: 'number',
    show: ({ attempt, retry }) =>
      `${attempt} / ${retry.maxAttempts ?? (retry.delaysMs?.length ?? 0) + 1}`,
  },
  submitted: {
    name: 'Submitted',
    className: 'nowrap',
    show: ({ submittedAt }) => <Time at={submittedAt} ago />,
  },
  took: { name: 'Took', className: 'number nowrap', show: took },
  worker: {
    name: 'Worker',
    className: 'clip',
    show: ({ attempts }) => attempts.at(-1)?.worker ?? '',
  },
  tags: {
    name: 'Tags',
    show: ({ tags }) => (Object.keys(tags).length === 0 ? '' : <Tags tags={tags} />),
  },
  input: { name: 'Input', className: 'clip mono', show: ({ input }) => oneLine(input, 80) },
  error: { name: 'Error', className: 'clip', show: ({ error }) => oneLine(error?.message, 80) },
} as const satisfies Record<string, Column>;

export type ColumnName = keyof typeof COLUMNS;

const USUAL: readonly ColumnName[] = [
  'state',
  'type',
  'id',
  'priority',
  'attempt',
  'submitted',
  'took',
];

export function columnsOf(text: string | undefined): readonly ColumnName[] {
  if (text === undefined) return USUAL;
  return text.split(',').filter((name): name is ColumnName => name in COLUMNS);
}

/** States that are what they are without a reason. */
const PLAIN = ['queued', 'leased', 'running', 'succeeded'];

export function noteOf(state: string, reason: string): string {
  return state === reason || PLAIN.includes(state) ? '' : reason;
}

function took({ submittedAt, endedAt }: TaskRow): string {
  if (submittedAt === null || endedAt === null) return '';
  return duration(Date.parse(endedAt) - Date.parse(submittedAt));
}
