/** A payload as a tree. One that is kept as a blob is loaded when somebody asks for it. */
import { useState } from 'react';
import { bytes } from '../../base/words.ts';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Button, ErrorNote } from '../../ui/parts.tsx';

interface PayloadProps {
  readonly value: unknown;
  readonly blob: string | undefined;
  readonly label: string;
  readonly isPending?: boolean;
}

export function Payload({ value, blob, label, isPending = false }: PayloadProps) {
  if (blob !== undefined) return <BlobPayload key={blob} hash={blob} label={label} />;
  if (value === undefined || (value === null && isPending)) {
    return <p className="muted">{isPending ? 'There is none until it ends.' : 'There is none.'}</p>;
  }
  return <JsonTree value={value} label={label} />;
}

function BlobPayload({ hash, label }: { readonly hash: string; readonly label: string }) {
  const [value, setValue] = useState<{ readonly json: unknown }>();
  const [error, setError] = useState<Error | null>(null);
  const load = async () => {
    try {
      const response = await fetch(`/v1/blobs/${hash}`);
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      const text = await response.text();
      setValue({ json: parsedOrText(text) });
    } catch (cause) {
      setError(cause as Error);
    }
  };
  if (value !== undefined) return <JsonTree value={value.json} label={label} />;
  return (
    <div className="stack">
      <p className="muted">
        It is large and kept apart, as <code>{hash.slice(0, 12)}…</code>
      </p>
      <div>
        <Button onClick={() => void load()}>Load it</Button>
      </div>
      <ErrorNote error={error} />
    </div>
  );
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Commands put whatever they like into a blob.
    return text.includes('\ufffd') ? `(${bytes(text.length)} that are no text)` : text;
  }
}
