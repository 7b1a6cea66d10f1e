/** JSON as a tree that opens on demand. A value of megabytes costs only what is shown of it. */
import { useState } from 'react';
import { bytes, plural } from '../base/words.ts';
import { clipped, oneLine, pictureOf, visible } from './json-text.ts';
import { Button, CopyButton } from './parts.tsx';

const CHILDREN_SHOWN = 100;
const TEXT_SHOWN = 400;
const OPEN_LEVELS = 2;
const PICTURE_MAX = 2_000_000;

interface NodeProps {
  readonly name: string | undefined;
  readonly value: unknown;
  readonly level: number;
}

export function JsonTree({ value, label }: { readonly value: unknown; readonly label: string }) {
  const picture = pictureIn(value);
  return (
    <div className="json-frame">
      <div className="json-copy">
        <CopyValue value={value} label={`Copy ${label}`} />
      </div>
      {picture !== undefined && <img className="picture" src={picture} alt={`${label}, drawn`} />}
      <ul className="json" aria-label={label}>
        <JsonNode name={undefined} value={value} level={0} />
      </ul>
    </div>
  );
}

/** The text is made when it is copied: it may be large. */
function CopyValue({ value, label }: { readonly value: unknown; readonly label: string }) {
  return <CopyButton text={() => JSON.stringify(value, undefined, 2) ?? ''} label={label} />;
}

/** A picture is the value itself, or one of its fields. */
function pictureIn(value: unknown): string | undefined {
  const candidates =
    typeof value === 'object' && value !== null ? Object.values(value).slice(0, 20) : [value];
  const found = candidates.find(
    (each) =>
      typeof each === 'string' && each.length < PICTURE_MAX && pictureOf(each) !== undefined,
  );
  return pictureOf(found);
}

function JsonNode({ name, value, level }: NodeProps) {
  if (typeof value === 'object' && value !== null) {
    return <JsonBranch name={name} value={value} level={level} />;
  }
  return (
    <li>
      <Name name={name} />
      {typeof value === 'string' ? <JsonString text={value} /> : <Scalar value={value} />}
    </li>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null;
  return <span className="json-name">{visible(clipped(name, TEXT_SHOWN))}: </span>;
}

function Scalar({ value }: { readonly value: unknown }) {
  return <span className="json-scalar">{value === undefined ? 'absent' : String(value)}</span>;
}

function JsonString({ text }: { readonly text: string }) {
  const [shown, setShown] = useState(TEXT_SHOWN);
  const rest = text.length - shown;
  return (
    <span>
      <bdi className="json-string">&quot;{visible(text.slice(0, shown))}&quot;</bdi>
      {rest > 0 && (
        <Button kind="ghost" size="small" onClick={() => setShown(shown * 10)}>
          {bytes(rest)} more
        </Button>
      )}
    </span>
  );
}

function JsonBranch({ name, value, level }: NodeProps & { readonly value: object }) {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS);
  const [shown, setShown] = useState(CHILDREN_SHOWN);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const size = plural(entries.length, isList ? 'item' : 'field');
  if (entries.length === 0) {
    return (
      <li>
        <Name name={name} />
        <span className="json-scalar">{isList ? '[ ]' : '{ }'}</span>
      </li>
    );
  }
  return (
    <li>
      <button
        type="button"
        className="json-toggle"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
        <Name name={name} />
        <span className="muted">{isOpen ? size : `${size} · ${oneLine(preview(value), 80)}`}</span>
      </button>
      {isOpen && (
        <ul>
          {entries.slice(0, shown).map(([key, child]) => (
            <JsonNode key={key} name={key} value={child} level={level + 1} />
          ))}
          {entries.length > shown && (
            <li>
              <Button kind="ghost" size="small" onClick={() => setShown(shown * 5)}>
                {plural(entries.length - shown, 'more entry', 'more entries')}
              </Button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** A few of the first values, so that the whole need not become text. */
function preview(value: object): unknown {
  const few = Object.entries(value)
    .slice(0, 4)
    .map(([key, child]) => [key, typeof child === 'string' ? clipped(child, 40) : shallow(child)]);
  return Array.isArray(value) ? few.map(([, child]) => child) : Object.fromEntries(few);
}

function shallow(child: unknown): unknown {
  if (typeof child !== 'object' || child === null) return child;
  return Array.isArray(child) ? '[…]' : '{…}';
}
