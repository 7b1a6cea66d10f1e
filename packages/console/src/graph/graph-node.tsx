/** One step in the picture of a definition. */
import { memo } from 'react';
import { words } from '../base/words.ts';
import { StateShape, toneOf } from '../ui/state-badge.tsx';
import { ForkToggle, onPress } from './fork-parts.tsx';
import { NODE_HEIGHT, NODE_WIDTH, type PlacedNode } from './layout.ts';
import { countsOf, type Mark } from './step-marks.ts';

interface NodeProps {
  readonly placed: PlacedNode;
  /** Empty outside of a run. */
  readonly state: string;
  /** The line below the reference. */
  readonly second: string;
  readonly isChosen: boolean;
  readonly onChoose: (reference: string) => void;
  /** Opens or closes a dynamic fork; absent where there is nothing to open. */
  readonly onToggle?: ((reference: string) => void) | undefined;
}

/** A step. It is drawn again only when something of it changed: a run may have thousands. */
export const NodeBox = memo(function NodeBox(props: NodeProps) {
  const { placed, state, second, isChosen, onChoose, onToggle } = props;
  const { node, x, y, role } = placed;
  const choose = () => onChoose(node.reference);
  const label = `${node.reference} ${second}${state === '' ? '' : `, ${words(state)}`}`;
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a picture cannot have a button element. */}
      <g
        className="graph-node"
        data-tone={state === '' ? 'neutral' : toneOf(state)}
        data-chosen={isChosen}
        transform={`translate(${x} ${y})`}
        role="button"
        tabIndex={0}
        aria-label={label}
        onClick={choose}
        onKeyDown={onPress(choose)}
      >
        {role !== 'step' && (
          <rect className="shade" x={5} y={5} width={NODE_WIDTH} height={NODE_HEIGHT} rx={7} />
        )}
        <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx={7} />
        {state !== '' && (
          <g transform="translate(12 16)">
            <StateShape state={state} />
          </g>
        )}
        <text className="graph-name" x={state === '' ? 12 : 34} y={20}>
          {clip(node.reference, onToggle === undefined ? 21 : 15)}
        </text>{' '}
        <text className="graph-type" x={state === '' ? 12 : 34} y={35}>
          {second}
        </text>
      </g>
      {onToggle !== undefined && <ForkToggle placed={placed} onToggle={onToggle} />}
    </>
  );
});

/** What stands below the reference: the task type, or how many steps it stands for. */
export function secondLine({ node }: PlacedNode, many: Mark['many']): string {
  return many.length > 0 ? summary(many) : clip(kindOf(node.type, node.name), 26);
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
