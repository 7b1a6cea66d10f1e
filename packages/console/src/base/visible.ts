/**
 * Browsers open at most six connections to a server over HTTP/1.1, shared by all tabs. So a stream
 * is open only while its tab is visible: tabs in the background must not starve the one in front.
 */
const HIDDEN_MS = 3000;

interface Stream {
  readonly open: () => void;
  readonly close: () => void;
}

/** Opens the stream whenever the tab is visible; returns what ends that. */
export function whileVisible({ open, close }: Stream): () => void {
  let isOpen = false;
  let hiding: number | undefined;
  const hide = () => {
    isOpen = false;
    close();
  };
  const look = () => {
    clearTimeout(hiding);
    if (document.hidden) {
      // A look at another tab is short more often than not.
      if (isOpen) hiding = window.setTimeout(hide, HIDDEN_MS);
    } else if (!isOpen) {
      isOpen = true;
      open();
    }
  };
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    document.removeEventListener('visibilitychange', look);
    clearTimeout(hiding);
    close();
  };
}
