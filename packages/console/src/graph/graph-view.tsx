/** A definition as a picture, live if it has marks of a run. Drag to move, buttons to zoom. */
import { type PointerEvent, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { plural } from '../base/words.ts';
import { Button } from '../ui/parts.tsx';
import { ScrollArea } from '../ui/scroll-area.tsx';
import { type Block, nodesIn } from './definition.ts';
import { Picture } from './graph-picture.tsx';
import { layoutOf } from './layout.ts';
import { type OpenForks, toggled, withBranches, withMore } from './open-forks.ts';
import type { Mark } from './step-marks.ts';
import { useWindow } from './use-window.ts';

const PAD = 24;
/** Of a larger graph only what is on the screen is drawn. */
const DRAWN_WHOLE = 300;
/** A wider graph scrolls rather than become unreadable. */
const ZOOM_MIN = 0.5;
const SCROLL_BAR = 24;
const ZOOMS = [0.25, 0.4, 0.6, 0.8, 1, 1.25];

const NONE_OPEN: OpenForks = new Map();

interface GraphProps {
  readonly blocks: readonly Block[];
  readonly marks?: ReadonlyMap<string, Mark>;
  readonly chosen?: string | undefined;
  readonly onChoose?: (reference: string) => void;
}

export function GraphView({ blocks, marks, chosen, onChoose }: GraphProps) {
  const latest = useRef(onChoose);
  latest.current = onChoose;
  const choose = useCallback((reference: string) => latest.current?.(reference), []);
  const { shown, onToggle, onMore } = useOpenForks(blocks, marks, choose);
  const layout = useMemo(() => layoutOf(shown), [shown]);
  const frame = useRef<HTMLElement>(null);
  const [zoom, setZoom] = useState(1);
  const drag = useDrag(frame);
  const seen = useWindow(frame, zoom, layout.nodes.length > DRAWN_WHOLE);
  const width = layout.width + PAD * 2;
  const height = layout.height + PAD * 2;
  const step = (by: number) => {
    const place = ZOOMS.findIndex((each) => each >= zoom);
    setZoom(ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, place + by))]);
  };
  const fit = useCallback(() => {
    const box = frame.current;
    // A dialog that is not open yet has no width.
    if (box === null || box.clientWidth === 0) return;
    setZoom(Math.max(ZOOM_MIN, Math.min(1, box.clientWidth / width)));
  }, [width]);
  useLayoutEffect(() => {
    const box = frame.current;
    if (box === null) return;
    let fitted = 0;
    const sizes = new ResizeObserver(() => {
      // Scroll bars come and go with the zoom, which must not change it again.
      if (Math.abs(box.clientWidth - fitted) < SCROLL_BAR) return;
      fitted = box.clientWidth;
      fit();
    });
    sizes.observe(box);
    return () => sizes.disconnect();
  }, [fit]);
  return (
    <div className="graph">
      <div className="graph-tools row">
        <Button size="small" aria-label="Zoom out" onClick={() => step(-1)}>
          −
        </Button>
        <Button size="small" onClick={fit}>
          Fit
        </Button>
        <Button size="small" aria-label="Zoom in" onClick={() => step(1)}>
          +
        </Button>
      </div>
      <ScrollArea className="graph-frame" ref={frame} label="Graph of the steps" {...drag}>
        <svg
          width={width * zoom}
          height={height * zoom}
          viewBox={`${-PAD} ${-PAD} ${width} ${height}`}
          aria-label={plural(nodesIn(blocks).length, 'step')}
        >
          <Picture
            layout={layout}
            marks={marks}
            chosen={chosen}
            onChoose={choose}
            onToggle={onToggle}
            onMore={onMore}
            window={seen}
          />
        </svg>
      </ScrollArea>
    </div>
  );
}

/** Dynamic forks are closed until somebody opens them. */
function useOpenForks(
  blocks: readonly Block[],
  marks: GraphProps['marks'],
  choose: (reference: string) => void,
) {
  const [open, setOpen] = useState<OpenForks>(NONE_OPEN);
  const shown = useMemo(() => withBranches(blocks, marks, open), [blocks, marks, open]);
  const onToggle = useCallback((fork: string) => setOpen((now) => toggled(now, fork)), []);
  const onMore = (fork: string) => {
    const next = withMore(open, fork);
    // The panel of the fork lists those that do not fit.
    if (next === undefined) choose(fork);
    else setOpen(next);
  };
  return { shown, onToggle, onMore };
}

function useDrag(frame: { readonly current: HTMLElement | null }) {
  const start = useRef<{ x: number; y: number; left: number; top: number }>(undefined);
  return {
    onPointerDown: (event: PointerEvent) => {
      const box = frame.current;
      if (box === null || event.button !== 0 || event.pointerType === 'touch') return;
      start.current = {
        x: event.clientX,
        y: event.clientY,
        left: box.scrollLeft,
        top: box.scrollTop,
      };
    },
    onPointerMove: (event: PointerEvent) => {
      const { current: from } = start;
      if (from === undefined || frame.current === null || event.buttons === 0) return;
      frame.current.scrollLeft = from.left - (event.clientX - from.x);
      frame.current.scrollTop = from.top - (event.clientY - from.y);
    },
    onPointerUp: () => {
      start.current = undefined;
    },
  };
}
