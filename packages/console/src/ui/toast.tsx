/** One short message about what was done, for a few seconds. Screen readers say it. */
import { useSyncExternalStore } from 'react';

const SHOWN_MS = 5000;

let message = '';
let timer: number | undefined;
const listeners = new Set<() => void>();

function set(text: string): void {
  message = text;
  for (const listener of listeners) listener();
}

export function notify(text: string): void {
  set(text);
  clearTimeout(timer);
  timer = window.setTimeout(() => set(''), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const text = useSyncExternalStore(subscribe, () => message);
  return (
    <div role="status" aria-live="polite">
      {text !== '' && <div className="toast">{text}</div>}
    </div>
  );
}
