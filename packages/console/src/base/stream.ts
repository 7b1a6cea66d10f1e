/** A stream of the server while a part of the page is shown. It opens again by itself. */
import { useEffect, useRef } from 'react';
import { whileVisible } from './visible.ts';

type Handlers = Readonly<Record<string, (data: unknown) => void>>;

const RETRY_MS = 1000;

/** `onOpen` is called at each start: what follows may repeat what was seen before. */
export function useStream(
  url: string | undefined,
  handlers: Handlers,
  onOpen: () => void = () => {},
): void {
  const current = useRef({ handlers, onOpen });
  current.current = { handlers, onOpen };
  const names = Object.keys(handlers).join(' ');
  useEffect(() => {
    if (url === undefined) return;
    let source: EventSource | undefined;
    let timer: number | undefined;
    let hasEnded = false;
    const open = () => {
      if (hasEnded) return;
      source = new EventSource(url);
      source.addEventListener('open', () => current.current.onOpen());
      for (const name of names.split(' ')) {
        source.addEventListener(name, (event) => {
          if (name === 'end') {
            hasEnded = true;
            source?.close();
          }
          current.current.handlers[name](JSON.parse((event as MessageEvent<string>).data));
        });
      }
      source.addEventListener('error', () => {
        source?.close();
        if (!hasEnded) timer = window.setTimeout(open, RETRY_MS);
      });
    };
    const close = () => {
      clearTimeout(timer);
      source?.close();
    };
    return whileVisible({ open, close });
  }, [url, names]);
}
