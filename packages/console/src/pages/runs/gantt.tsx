/** The steps of a run over time. The critical path has a frame and a mark. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { useNow } from '../../base/clock.ts';
import { duration, words } from '../../base/words.ts';
import { ScrollArea } from '../../ui/scroll-area.tsx';
import { toneOf } from '../../ui/state-badge.tsx';
import { criticalPath } from './critical-path.ts';
import type { Run } from './run.ts';

const LANE_HEIGHT = 24;
const COLOURS = {
  good: 'c-good',
  bad: 'c-bad',
  warn: 'c-warn',
  active: 'c-accent',
  neutral: 'c-muted',
};

interface GanttProps {
  readonly run: Run;
  readonly chosen: string | undefined;
  readonly onChoose: (reference: string) => void;
}

export function Gantt({ run, chosen, onChoose }: GanttProps) {
  const now = useNow();
  const frame = useRef<HTMLElement>(null);
  const begun = useMemo(
    () =>
      run.steps
        .filter(({ startedAt }) => startedAt !== null)
        .sort((a, b) => ((a.startedAt ?? '') < (b.startedAt ?? '') ? -1 : 1)),
    [run.steps],
  );
  const critical = useMemo(() => criticalPath(run.steps, Date.now()), [run.steps]);
  const start = Date.parse(run.startedAt ?? '');
  const end = Math.max(start + 1, run.endedAt === null ? now : Date.parse(run.endedAt));
  const lanes = useVirtualizer({
    count: begun.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LANE_HEIGHT,
    overscan: 10,
  });
  const share = (at: number) => Math.max(0, Math.min(100, ((at - start) / (end - start)) * 100));
  return (
    <div className="stack">
      <p className="small muted">
        {duration(end - start)} in total · framed steps are the critical path: they decided how long
        the run took
      </p>
      <ScrollArea className="gantt" ref={frame} label="Timeline of the steps">
        <div style={{ height: lanes.getTotalSize(), position: 'relative' }}>
          {lanes.getVirtualItems().map(({ index, start: top }) => {
            const step = begun[index];
            const from = Date.parse(step.startedAt ?? '');
            const to = step.endedAt === null ? now : Date.parse(step.endedAt);
            const isCritical = critical.has(step.reference);
            return (
              <button
                key={step.reference}
                type="button"
                className="lane gantt-lane"
                aria-pressed={chosen === step.reference}
                style={{ transform: `translateY(${top}px)` }}
                onClick={() => onChoose(step.reference)}
              >
                <span className="lane-name">
                  {isCritical && <b title="On the critical path">◆ </b>}
                  {step.reference}
                </span>
                <span className="track">
                  <span
                    className={`${COLOURS[toneOf(step.state)]} ${isCritical ? 'critical' : ''}`}
                    title={`${step.reference}: ${words(step.state)}, ${duration(to - from)}`}
                    style={{ left: `${share(from)}%`, width: `${share(to) - share(from)}%` }}
                  />
                </span>
                <span className="small number muted">{duration(to - from)}</span>
              </button>
            );
          })}
        </div>
      </ScrollArea>
    </div>
  );
}
