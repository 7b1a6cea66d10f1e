/** A definition as a picture, live if it has marks of a run. Drag to move, buttons to zoom. */
import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { plural, words } from '../base/words.ts';
import { Button } from '../ui/parts.tsx';
import { ScrollArea } from '../ui/scroll-area.tsx';
import { StateShape, toneOf } from '../ui/state-badge.tsx';
import { type Block, nodesIn } from './definition.ts';
import {
  type Layout,
  layoutOf,
  NODE_HEIGHT,
  NODE_WIDTH,
  type PlacedEdge,
  type PlacedNode,
} from './layout.ts';
import { countsOf, type Mark } from './step-marks.ts';

const PAD = 24;
/** A wider graph scrolls rather than become unreadable. */
const ZOOM_MIN = 0.5;
const ZOOMS = [0.25, 0.4, 0.6, 0.8, 1, 1.25];

interface GraphProps {
  readonly blocks: readonly Block[];
  readonly marks?: ReadonlyMap<string, Mark>;
  readonly chosen?: string | undefined;
  readonly onChoose?: (reference: string) => void;
}

export function GraphView({ blocks, marks, chosen, onChoose }: GraphProps) {
  const layout = useMemo(() => layoutOf(blocks), [blocks]);
  const frame = useRef<HTMLElement>(null);
  const [zoom, setZoom] = useState(1);
  const drag = useDrag(frame);
  const width = layout.width + PAD * 2;
  const height = layout.height + PAD * 2;
  const step = (by: number) => {
    const place = ZOOMS.findIndex((each) => each >= zoom);
    setZoom(ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, place + by))]);
  };
  const fit = useCallback(() => {
    const box = frame.current;
    if (box !== null) setZoom(Math.max(ZOOM_MIN, Math.min(1, box.clientWidth / width)));
  }, [width]);
  useLayoutEffect(fit, [fit]);
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
          <Loops layout={layout} />
          {layout.edges.map((edge) => (
            <Edge key={`${edge.from} ${edge.to} ${edge.label}`} edge={edge} />
          ))}
          {layout.nodes.map((placed) => (
            <NodeBox
              key={placed.node.reference}
              placed={placed}
              mark={marks?.get(placed.node.reference)}
              isLive={marks !== undefined}
              isChosen={chosen === placed.node.reference}
              onChoose={onChoose}
            />
          ))}
        </svg>
      </ScrollArea>
    </div>
  );
}

function Loops({ layout }: { readonly layout: Layout }) {
  return layout.loops.map(({ x, y, width, height }) => (
    <rect
      key={`${x} ${y}`}
      className="graph-loop"
      x={x}
      y={y}
      width={width}
      height={height}
      rx={10}
    />
  ));
}

function Edge({ edge }: { readonly edge: PlacedEdge }) {
  const [[x1, y1], [x2, y2]] = [edge.from, edge.to];
  const bend = Math.max(12, (y2 - y1) / 2);
  return (
    <g>
      <path
        className="graph-edge"
        d={`M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 5}`}
      />
      <path className="graph-tip" d={`M${x2 - 4} ${y2 - 6}L${x2} ${y2 - 1}L${x2 + 4} ${y2 - 6}Z`} />
      {edge.label !== '' && (
        <text className="graph-label" x={(x1 + x2) / 2} y={(y1 + y2) / 2} textAnchor="middle">
          {edge.label.slice(0, 24)}
        </text>
      )}
    </g>
  );
}

interface NodeProps {
  readonly placed: PlacedNode;
  readonly mark: Mark | undefined;
  readonly isLive: boolean;
  readonly isChosen: boolean;
  readonly onChoose: ((reference: string) => void) | undefined;
}

function NodeBox({ placed, mark, isLive, isChosen, onChoose }: NodeProps) {
  const { node, x, y, isDynamic } = placed;
  const state = mark?.step.state ?? (isLive ? 'pending' : '');
  const many = mark?.many ?? [];
  const choose = () => onChoose?.(node.reference);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose();
  };
  const second = many.length > 0 ? summary(many) : clip(kindOf(node.type, node.name), 26);
  const label = `${node.reference} ${second}${state === '' ? '' : `, ${words(state)}`}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a button element cannot stand in a picture.
    <g
      className="graph-node"
      data-tone={state === '' ? 'neutral' : toneOf(state)}
      data-chosen={isChosen}
      transform={`translate(${x} ${y})`}
      role="button"
      tabIndex={0}
      aria-label={label}
      onClick={choose}
      onKeyDown={onKey}
    >
      {isDynamic && (
        <rect className="shade" x={5} y={5} width={NODE_WIDTH} height={NODE_HEIGHT} rx={7} />
      )}
      <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx={7} />
      {state !== '' && (
        <g transform="translate(12 16)">
          <StateShape state={state} />
        </g>
      )}
      <text className="graph-name" x={state === '' ? 12 : 34} y={20}>
        {clip(node.reference, 21)}
      </text>{' '}
      <text className="graph-type" x={state === '' ? 12 : 34} y={35}>
        {second}
      </text>
    </g>
  );
}

/** `13 of 16 succeeded`. */
function summary(many: Mark['many']): string {
  const [[state, first] = ['', 0]] = countsOf(many);
  return first === many.length
    ? `${first} ${words(state)}`
    : `${first} of ${many.length} ${words(state)}`;
}

function kindOf(type: string, name: string): string {
  return type === 'SIMPLE' ? name : words(type).toLowerCase();
}

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
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
