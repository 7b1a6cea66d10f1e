/** The picture of a definition: lines and steps, as far as they are on the screen. */
import { memo } from 'react';
import { MoreBox } from './fork-parts.tsx';
import { NodeBox, secondLine } from './graph-node.tsx';
import { type Layout, NODE_HEIGHT, NODE_WIDTH, type PlacedEdge } from './layout.ts';
import type { Mark } from './step-marks.ts';
import type { Window } from './use-window.ts';

interface PictureProps {
  readonly layout: Layout;
  /** Undefined outside of a run. */
  readonly marks: ReadonlyMap<string, Mark> | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (reference: string) => void;
  readonly onToggle: (reference: string) => void;
  readonly onMore: (reference: string) => void;
  /** Undefined if everything is drawn. */
  readonly window: Window | undefined;
}

export function Picture(props: PictureProps) {
  const { layout, marks, chosen, onChoose, window } = props;
  const edges = layout.edges.filter(({ from, to }) => isIn(window, from, to));
  const nodes = layout.nodes.filter(({ x, y }) =>
    isIn(window, [x, y], [x + NODE_WIDTH, y + NODE_HEIGHT]),
  );
  return (
    <>
      <Loops layout={layout} />
      {edges.map((edge) => (
        <Edge key={`${edge.from} ${edge.to} ${edge.label}`} edge={edge} />
      ))}
      {nodes.map((placed) => {
        const { node, role } = placed;
        const { reference } = node;
        if (role === 'more') {
          return <MoreBox key={`${reference} more`} placed={placed} onMore={props.onMore} />;
        }
        const mark = marks?.get(reference);
        const many = mark?.many ?? [];
        const canOpen = role !== 'step' && many.length > 0;
        return (
          <NodeBox
            key={reference}
            placed={placed}
            state={mark?.step.state ?? node.state ?? (marks === undefined ? '' : 'pending')}
            second={secondLine(placed, many)}
            isChosen={chosen === reference}
            onChoose={onChoose}
            onToggle={canOpen ? props.onToggle : undefined}
          />
        );
      })}
    </>
  );
}

type Point = readonly [number, number];

/** Whether the box of two corners meets the window. */
function isIn(window: Window | undefined, from: Point, to: Point): boolean {
  if (window === undefined) return true;
  const [left, right] = from[0] < to[0] ? [from[0], to[0]] : [to[0], from[0]];
  return (
    right >= window.left && left <= window.right && to[1] >= window.top && from[1] <= window.bottom
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

const Edge = memo(function Edge({ edge }: { readonly edge: PlacedEdge }) {
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
});
