/** One step in the picture of a definition. */
import { type KeyboardEvent, memo } from 'react';
import { words } from '../base/words.ts';
import { StateShape, toneOf } from '../ui/state-badge.tsx';
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
}

/** A step. It is drawn again only when something of it changed: a run may have thousands. */
export const NodeBox = memo(function NodeBox(props: NodeProps) {
  const { placed, state, second, isChosen, onChoose } = props;
  const { node, x, y, isDynamic } = placed;
  const choose = () => onChoose(node.reference);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose();
  };
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
