/** The attempts of a task over time: waiting, dispatch, running, backoff; and what each used. */
import { useNow } from '../../base/clock.ts';
import { bytes, duration, words } from '../../base/words.ts';
import { Bar, Time } from '../../ui/parts.tsx';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { toneOf } from '../../ui/state-badge.tsx';
import type { Task } from './task-actions.tsx';

type Attempt = Task['attempts'][number];

interface Segment {
  readonly kind: 'waiting' | 'dispatch' | 'running' | 'backoff';
  readonly from: number;
  readonly to: number;
  readonly attempt: number;
  readonly outcome: string | null;
}

export function Attempts({ task }: { readonly task: Task }) {
  const now = useNow();
  const segments = segmentsOf(task, now);
  if (segments.length === 0) return <p className="muted">It has not been submitted yet.</p>;
  const start = segments[0].from;
  const end = Math.max(...segments.map(({ to }) => to), start + 1);
  return (
    <div className="stack">
      <div className="timeline">
        <div className="track big" role="img" aria-label={spoken(segments)}>
          {segments.map((segment) => (
            <span
              key={`${segment.kind}${segment.attempt}${segment.from}`}
              className={classOf(segment)}
              title={`${segment.kind}${segment.attempt === 0 ? '' : ` of attempt ${segment.attempt}`}: ${duration(segment.to - segment.from)}`}
              style={{
                left: `${((segment.from - start) / (end - start)) * 100}%`,
                width: `${((segment.to - segment.from) / (end - start)) * 100}%`,
              }}
            />
          ))}
        </div>
        <div className="row small muted spread number">
          <Time at={new Date(start).toISOString()} />
          <Legend segments={segments} />
          <span>{duration(end - start)}</span>
        </div>
      </div>
      {task.attempts.length > 0 && <AttemptTable task={task} />}
    </div>
  );
}

const NAMES = { waiting: 'waiting', dispatch: 'dispatch', running: 'running', backoff: 'backoff' };

function Legend({ segments }: { readonly segments: readonly Segment[] }) {
  const kinds = (Object.keys(NAMES) as Segment['kind'][]).filter((kind) =>
    segments.some((segment) => segment.kind === kind),
  );
  return (
    <span className="row">
      {kinds.map((kind) => {
        const total = segments
          .filter((segment) => segment.kind === kind)
          .reduce((sum, { from, to }) => sum + to - from, 0);
        return (
          <span key={kind}>
            {NAMES[kind]} {duration(total)}
          </span>
        );
      })}
    </span>
  );
}

function classOf({ kind, outcome }: Segment): string {
  if (kind === 'waiting' || kind === 'backoff') return 'waiting';
  if (kind === 'dispatch') return 'c-low';
  const tone = outcome === null ? 'active' : toneOf(outcome);
  return { active: 'c-accent', good: 'c-good', bad: 'c-bad', warn: 'c-warn', neutral: 'c-muted' }[
    tone
  ];
}

function spoken(segments: readonly Segment[]): string {
  return segments.map(({ kind, from, to }) => `${kind} ${duration(to - from)}`).join(', ');
}

function segmentsOf(task: Task, now: number): Segment[] {
  const { submittedAt, endedAt, attempts } = task;
  if (submittedAt === null) return [];
  const end = endedAt === null ? now : Date.parse(endedAt);
  const segments: Segment[] = [];
  let place = Date.parse(submittedAt);
  const add = (kind: Segment['kind'], until: number, attempt?: Attempt) => {
    const to = Math.max(place, Math.min(until, Math.max(end, now)));
    if (to > place) {
      segments.push({
        kind,
        from: place,
        to,
        attempt: attempt?.attempt ?? 0,
        outcome: attempt?.outcome ?? null,
      });
    }
    place = to;
  };
  for (const [index, attempt] of attempts.entries()) {
    const leasedAt = Date.parse(attempt.leasedAt ?? submittedAt);
    add(index === 0 ? 'waiting' : 'backoff', leasedAt, attempt);
    const over = attempt.endedAt === null ? end : Date.parse(attempt.endedAt);
    add('dispatch', attempt.startedAt === null ? leasedAt : Date.parse(attempt.startedAt), attempt);
    add('running', over, attempt);
  }
  if (endedAt === null && attempts.at(-1)?.endedAt !== null)
    add(attempts.length === 0 ? 'waiting' : 'backoff', now);
  return segments;
}

function AttemptTable({ task }: { readonly task: Task }) {
  const hasUsage = task.attempts.some(({ usage }) => usage !== undefined);
  return (
    <ScrollArea className="table-scroll" label="Table of attempts">
      <table>
        <thead>
          <tr>
            <th>Attempt</th>
            <th>Worker</th>
            <th>Began</th>
            <th className="number">Took</th>
            <th>Outcome</th>
            {hasUsage && <th>Used of what was reserved</th>}
          </tr>
        </thead>
        <tbody>
          {task.attempts.map((attempt) => (
            <tr key={`${attempt.attempt}-${attempt.leasedAt}`}>
              <td>{attempt.attempt}</td>
              <td>{attempt.worker}</td>
              <td className="nowrap">
                <Time at={attempt.startedAt ?? attempt.leasedAt} />
              </td>
              <td className="number nowrap">{tookOf(attempt)}</td>
              <td className="clip">
                <span className="state" data-tone={toneOf(attempt.outcome ?? 'running')}>
                  {words(attempt.outcome ?? 'running')}
                </span>{' '}
                <span className="muted">{attempt.error?.message}</span>
              </td>
              {hasUsage && (
                <td>
                  <Used attempt={attempt} resources={task.resources} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

function tookOf({ startedAt, leasedAt, endedAt }: Attempt): string {
  const from = startedAt ?? leasedAt;
  return endedAt === null || from === null ? '' : duration(Date.parse(endedAt) - Date.parse(from));
}

const MB = 1024 * 1024;

/** What the attempt used, beside what was reserved for it. */
function Used({
  attempt,
  resources,
}: {
  readonly attempt: Attempt;
  readonly resources: Task['resources'];
}) {
  const { usage } = attempt;
  if (usage === undefined) return <span className="muted">not measured</span>;
  const cores = usage.cpuMs === undefined || !usage.wallMs ? undefined : usage.cpuMs / usage.wallMs;
  const memory = usage.memoryPeakBytes;
  return (
    <div className="used small">
      {cores !== undefined && (
        <Share
          name={`${cores.toFixed(2)} cores`}
          used={cores}
          max={resources.cpu}
          unit={`${resources.cpu} reserved`}
        />
      )}
      {memory !== undefined && (
        <Share
          name={bytes(memory)}
          used={memory / MB}
          max={resources.memoryMb}
          unit={`${resources.memoryMb} MB reserved`}
        />
      )}
    </div>
  );
}

interface ShareProps {
  readonly name: string;
  readonly used: number;
  readonly max: number | undefined;
  readonly unit: string;
}

function Share({ name, used, max, unit }: ShareProps) {
  return (
    <div>
      <span className="nowrap">{name}</span>
      {max === undefined ? (
        <span className="muted"> nothing reserved</span>
      ) : (
        <Bar used={used} max={max} label={`${name} of ${unit}`} />
      )}
    </div>
  );
}
