/** The part of a large picture that is on the screen: the rest need not be drawn. */
import { type RefObject, useLayoutEffect, useState } from 'react';

export interface Window {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The window moves in steps, so that most scrolling draws nothing anew. */
const STEP = 400;

/** In the coordinates of the picture; undefined while everything is to be drawn. */
export function useWindow(
  frame: RefObject<HTMLElement | null>,
  zoom: number,
  isNeeded: boolean,
): Window | undefined {
  const [place, setPlace] = useState({ left: 0, top: 0, width: 1400, height: 800 });
  useLayoutEffect(() => {
    const box = frame.current;
    if (box === null || !isNeeded) return;
    const look = () => {
      const left = Math.floor(box.scrollLeft / STEP) * STEP;
      const top = Math.floor(box.scrollTop / STEP) * STEP;
      const { clientWidth: width, clientHeight: height } = box;
      setPlace((old) => {
        const isSame =
          old.left === left && old.top === top && old.width === width && old.height === height;
        return isSame ? old : { left, top, width, height };
      });
    };
    look();
    box.addEventListener('scroll', look, { passive: true });
    return () => box.removeEventListener('scroll', look);
  }, [frame, isNeeded]);
  if (!isNeeded) return undefined;
  const { left, top, width, height } = place;
  return {
    left: (left - STEP) / zoom,
    top: (top - STEP) / zoom,
    right: (left + width + 2 * STEP) / zoom,
    bottom: (top + height + 2 * STEP) / zoom,
  };
}
