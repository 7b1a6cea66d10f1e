/** Keys: Ctrl K or / opens the palette; g and a letter go to a page. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

const PAGES = {
  o: '/',
  t: '/tasks',
  r: '/runs',
  w: '/workflows',
  s: '/schedules',
  q: '/queues',
  d: '/dead-letters',
  k: '/workers',
} as const;

const SECOND_KEY_MS = 1200;

export function useShortcuts({ openPalette }: { readonly openPalette: () => void }): void {
  const navigate = useNavigate();
  const pressedG = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        return openPalette();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === '/') {
        event.preventDefault();
        return openPalette();
      }
      const isSecond = event.timeStamp - pressedG.current < SECOND_KEY_MS;
      pressedG.current = event.key === 'g' ? event.timeStamp : 0;
      const to = PAGES[event.key as keyof typeof PAGES];
      if (isSecond && to !== undefined) void navigate({ to });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, openPalette]);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('dialog') !== null;
}
