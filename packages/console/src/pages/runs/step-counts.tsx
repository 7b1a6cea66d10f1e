/** The states of the steps of a run as one bar, with the numbers as a text. */
import { words } from '../../base/words.ts';
import { toneOf } from '../../ui/state-badge.tsx';

const ORDER = [
  'succeeded',
  'completed_with_errors',
  'failed',
  'timed_out',
  'cancelled',
  'running',
  'skipped',
  'pending',
];
const COLOURS = {
  good: 'c-good',
  bad: 'c-bad',
  warn: 'c-warn',
  active: 'c-accent',
  neutral: 'c-muted',
};

export function StepCounts({ counts }: { readonly counts: Readonly<Record<string, number>> }) {
  const parts = ORDER.flatMap((state) =>
    (counts[state] ?? 0) > 0 ? [[state, counts[state]] as const] : [],
  );
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  const text = parts.map(([state, count]) => `${count} ${words(state)}`).join(', ');
  return (
    <span className="counts" title={text}>
      <span className="counts-bar" aria-hidden="true">
        {parts.map(([state, count]) => (
          <i
            key={state}
            className={state === 'pending' ? 'c-line' : COLOURS[toneOf(state)]}
            style={{ width: `${(count / Math.max(1, total)) * 100}%` }}
          />
        ))}
      </span>
      <span className="small muted number">
        {counts.succeeded ?? 0} of {total}
      </span>
    </span>
  );
}
