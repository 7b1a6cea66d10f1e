/** The small parts that every page is made of. */
import {
  type ButtonHTMLAttributes,
  cloneElement,
  type ReactElement,
  type ReactNode,
  useId,
  useState,
} from 'react';
import type { ApiError } from '../base/api.ts';
import { useNow } from '../base/clock.ts';
import { localTime, relative, utcTime } from '../base/words.ts';
import { Icon } from './icons.tsx';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'danger-primary' | 'ghost';
  readonly size?: 'usual' | 'small';
}

export function Button({ kind = 'plain', size = 'usual', ...rest }: ButtonProps) {
  return <button type="button" className="button" data-kind={kind} data-size={size} {...rest} />;
}

/** A time in the zone of the reader; UTC when the pointer rests on it. */
export function Time({ at, ago = false }: { readonly at: string | null; readonly ago?: boolean }) {
  const now = useNow();
  if (at === null) return <span className="muted">–</span>;
  const ms = Date.parse(at);
  const hint = ago ? `${localTime(ms)} · ${utcTime(ms)}` : utcTime(ms);
  return (
    <time dateTime={at} title={hint} className="number">
      {ago ? relative(ms, now) : localTime(ms)}
    </time>
  );
}

interface PageHeadProps {
  readonly title: ReactNode;
  readonly under?: ReactNode;
  readonly children?: ReactNode;
}

export function PageHead({ title, under, children }: PageHeadProps) {
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {under !== undefined && <div className="under row">{under}</div>}
      </div>
      <div className="row">{children}</div>
    </header>
  );
}

interface PanelProps {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly flush?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, aside, flush = false, children }: PanelProps) {
  return (
    <section className="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {aside !== undefined && <div className="row">{aside}</div>}
      </header>
      <div className={flush ? 'body flush' : 'body'}>{children}</div>
    </section>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  /** The control. It gets the id that the label names. */
  readonly children: ReactElement<{ id?: string; 'aria-describedby'?: string }>;
}

export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, { id, 'aria-describedby': hintId })}
      {hint !== undefined && (
        <span id={hintId} className="small muted">
          {hint}
        </span>
      )}
    </div>
  );
}

export function Facts({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function CopyButton({
  text,
  label = 'Copy',
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    const copied = typeof text === 'string' ? text : text();
    void navigator.clipboard?.writeText(copied).then(() => setCopied(true));
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Button kind="ghost" size="small" onClick={copy} aria-label={isCopied ? 'Copied' : label}>
      <Icon name="copy" size={14} />
      {isCopied && 'Copied'}
    </Button>
  );
}

export function CodeLine({ text }: { readonly text: string }) {
  return (
    <div className="code-line">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys must scroll it. */}
      <code tabIndex={0}>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** Lines to copy, each with a caption. */
  readonly lines?: readonly (readonly [string, string])[];
}

/** A page without content says how content comes about. */
export function Empty({ title, children, lines = [] }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children !== undefined && <p className="muted">{children}</p>}
      {lines.map(([caption, text]) => (
        <div key={caption} className="field">
          <span>{caption}</span>
          <CodeLine text={text} />
        </div>
      ))}
    </div>
  );
}

export function ErrorNote({ error }: { readonly error: ApiError | Error | null }) {
  if (error === null) return null;
  const details = 'details' in error ? error.details : [];
  return (
    <div className="note" data-tone="bad" role="alert">
      <strong data-tone="bad">{error.message}</strong>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, problem }) => (
            <li key={`${path} ${problem}`}>
              <code>{path === '' ? '/' : path}</code> {problem}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function Tags({ tags }: { readonly tags: Readonly<Record<string, string>> }) {
  const entries = Object.entries(tags);
  if (entries.length === 0) return <span className="muted">none</span>;
  return (
    <span className="row">
      {entries.map(([name, value]) => (
        <span key={name} className="tag" title={`${name}=${value}`}>
          {name}={value}
        </span>
      ))}
    </span>
  );
}

/** `used` of `max`, also as a text. */
export function Bar({
  used,
  max,
  label,
}: {
  readonly used: number;
  readonly max: number;
  readonly label: string;
}) {
  const share = max === 0 ? 0 : Math.min(1, used / max);
  return (
    <div className="bar" role="img" aria-label={label} title={label}>
      <span style={{ width: `${share * 100}%` }} />
    </div>
  );
}

export function Loading() {
  return (
    <div className="stack" role="status" aria-label="Loading">
      <div className="skeleton" style={{ width: '40%' }} />
      <div className="skeleton" style={{ width: '75%' }} />
      <div className="skeleton" style={{ width: '60%' }} />
    </div>
  );
}
