/** States of tasks, runs, steps and schedules: each has its own shape, word and colour. */
import type { Answer, Item } from '../base/api.ts';
import { words } from '../base/words.ts';

type TaskState = Answer<'GET /v1/tasks/{id}'>['state'];
type RunStatus = Answer<'GET /v1/runs/{id}'>['status'];
type StepState = Answer<'GET /v1/runs/{id}'>['steps'][number]['state'];
type ScheduleState = Item<'GET /v1/schedules'>['state'];

type StateName = TaskState | RunStatus | StepState | ScheduleState;
export type Tone = 'neutral' | 'active' | 'good' | 'bad' | 'warn';

type Shape =
  | 'ring'
  | 'dashed'
  | 'dot'
  | 'half'
  | 'spin'
  | 'pause'
  | 'check'
  | 'cross'
  | 'clock'
  | 'minus'
  | 'skip'
  | 'bang';

interface Style {
  readonly tone: Tone;
  readonly shape: Shape;
}

const STYLES = {
  waiting: { tone: 'neutral', shape: 'clock' },
  blocked: { tone: 'warn', shape: 'bang' },
  queued: { tone: 'neutral', shape: 'ring' },
  pending: { tone: 'neutral', shape: 'dashed' },
  leased: { tone: 'active', shape: 'half' },
  running: { tone: 'active', shape: 'spin' },
  active: { tone: 'active', shape: 'dot' },
  paused: { tone: 'warn', shape: 'pause' },
  succeeded: { tone: 'good', shape: 'check' },
  completed: { tone: 'good', shape: 'check' },
  completed_with_errors: { tone: 'warn', shape: 'bang' },
  failed: { tone: 'bad', shape: 'cross' },
  timed_out: { tone: 'bad', shape: 'clock' },
  expired: { tone: 'warn', shape: 'clock' },
  skipped: { tone: 'neutral', shape: 'skip' },
  cancelled: { tone: 'neutral', shape: 'minus' },
} as const satisfies Record<StateName, Style>;

export function toneOf(state: string): Tone {
  return state in STYLES ? STYLES[state as StateName].tone : 'neutral';
}

const INNER: Readonly<Record<Shape, string>> = {
  ring: '',
  dashed: '',
  dot: 'M7 5.5a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3z',
  half: 'M7 2a5 5 0 0 1 0 10z',
  spin: '',
  pause: 'M5.500 5v4M8.500 5v4',
  check: 'M4.500 7.200l1.800 1.800 3.400-3.800',
  cross: 'M5 5l4 4M9 5l-4 4',
  clock: 'M7 4.500V7l1.800 1.200',
  minus: 'M4.800 7h4.400',
  skip: 'M5 5l2 2-2 2M8 5l2 2-2 2',
  bang: 'M7 4.500v3M7 9.500v.01',
};

const FILLED: readonly Shape[] = ['half', 'dot'];

export function StateShape({
  state,
  size = 14,
}: {
  readonly state: string;
  readonly size?: number;
}) {
  const { shape } = state in STYLES ? STYLES[state as StateName] : { shape: 'ring' as const };
  const dash = shape === 'dashed' ? '2 2.400' : shape === 'spin' ? '21 10' : undefined;
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 14 14"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.6}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <circle
        className={shape === 'spin' ? 'spin' : undefined}
        cx={7}
        cy={7}
        r={5}
        strokeDasharray={dash}
      />
      <path d={INNER[shape]} fill={FILLED.includes(shape) ? 'currentColor' : 'none'} />
    </svg>
  );
}

export function StateBadge({ state, note }: { readonly state: string; readonly note?: string }) {
  return (
    <span className="state" data-tone={toneOf(state)}>
      <StateShape state={state} />
      {words(state)}
      {note !== undefined && note !== '' && <span className="muted small">{words(note)}</span>}
    </span>
  );
}
