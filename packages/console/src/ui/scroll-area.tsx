/** A part that scrolls by itself. Keys can reach it, and it has a name. */
import type { HTMLAttributes, Ref } from 'react';

interface ScrollAreaProps extends HTMLAttributes<HTMLElement> {
  readonly label: string;
  readonly ref?: Ref<HTMLElement>;
}

export function ScrollArea({ label, ...rest }: ScrollAreaProps) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it keys could not scroll the part.
  return <section tabIndex={0} aria-label={label} {...rest} />;
}
