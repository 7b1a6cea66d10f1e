/** What opens and closes a dynamic fork in the picture, and shows more of its branches. */
import { type KeyboardEvent, memo } from 'react';
import { count } from '../base/words.ts';
import { NODE_HEIGHT, NODE_WIDTH, type PlacedNode } from './layout.ts';

const SIZE = 22;

/** Enter and the space bar press what stands in a picture, as they press a button. */
export function onPress(act: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    act();
  };
}

interface ToggleProps {
  readonly placed: PlacedNode;
  readonly onToggle: (reference: string) => void;
}

export function ForkToggle({ placed: { node, x, y, role }, onToggle }: ToggleProps) {
  const isOpen = role === 'open';
  const toggle = () => onToggle(node.reference);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a button element cannot stand in a picture.
    <g
      className="graph-toggle"
      transform={`translate(${x + NODE_WIDTH - SIZE - 10} ${y + (NODE_HEIGHT - SIZE) / 2})`}
      role="button"
      tabIndex={0}
      aria-expanded={isOpen}
      aria-label={`Branches of ${node.reference}`}
      onClick={toggle}
      onKeyDown={onPress(toggle)}
    >
      <rect className="graph-button" width={SIZE} height={SIZE} rx={5} />
      <path className="graph-sign" d={isOpen ? 'M6 11h10' : 'M6 11h10M11 6v10'} />
    </g>
  );
}

interface MoreProps {
  readonly placed: PlacedNode;
  readonly onMore: (reference: string) => void;
}

export const MoreBox = memo(function MoreBox({ placed: { node, x, y }, onMore }: MoreProps) {
  const more = () => onMore(node.reference);
  const text = `${count(Number(node.name))} more`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a button element cannot stand in a picture.
    <g
      className="graph-more"
      transform={`translate(${x} ${y})`}
      role="button"
      tabIndex={0}
      aria-label={`${text} branches of ${node.reference}`}
      onClick={more}
      onKeyDown={onPress(more)}
    >
      <rect
        className="graph-button"
        width={NODE_WIDTH}
        height={NODE_HEIGHT}
        rx={7}
        strokeDasharray="4 4"
      />
      <text
        className="graph-more-text"
        x={NODE_WIDTH / 2}
        y={NODE_HEIGHT / 2 + 4}
        textAnchor="middle"
      >
        {text}
      </text>
    </g>
  );
});
