import { LIMITS } from '@sluice/protocol/limits';
import { clippedText, numberOf } from '../base/shown-value.ts';
import type { Usage } from '../task/api-types.ts';

/** How an attempt ended. */
export type Ending =
  /** With its output as JSON text or as a blob; without either the output is null. */
  | {
      readonly kind: 'succeeded';
      readonly output?: string;
      readonly outputBlob?: string;
      readonly usage?: Usage;
    }
  | {
      readonly kind: 'failed';
      readonly error: HandlerError;
      readonly retryable?: boolean;
      readonly retryAfterMs?: number;
      readonly usage?: Usage;
    }
  | { readonly kind: 'cancelled'; readonly usage?: Usage }
  | { readonly kind: 'later' }
  | { readonly kind: 'refused' };

export interface HandlerError {
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

export type FinalKind = Ending['kind'];

/** A report that ends a lease, rendered once, so that every try sends the same text. */
export interface FinalReport {
  readonly lease: string;
  readonly kind: FinalKind;
  readonly text: string;
  readonly isFinal: true;
}

/** Keeps message, code and stack together well below the limit of a payload. */
const ERROR_CHARACTERS_MAX = 16_384;

/** Renders the end of an attempt. `startedAt` is 0 when the attempt never started. */
export function finalReport(lease: string, ending: Ending, startedAt: number): FinalReport {
  const { kind } = ending;
  if (kind === 'failed') return failure(lease, ending, startedAt);
  if (kind === 'cancelled') {
    return said(lease, kind, wordsOf(lease, kind, startedAt, usageWords(ending.usage)));
  }
  if (kind !== 'succeeded') return said(lease, kind, wordsOf(lease, kind, startedAt));

  const { output = 'null', outputBlob } = ending;
  const words = outputBlob === undefined ? `"output":${output}` : `"outputBlob":"${outputBlob}"`;
  const usage = usageWords(ending.usage);
  const all = usage === '' ? words : `${words},${usage}`;
  return said(lease, kind, wordsOf(lease, kind, startedAt, all));
}

/** A figure that is no whole number is left out: it must not cost the attempt its report. */
function usageWords(usage: Usage | undefined): string {
  if (usage === undefined) return '';
  return `"usage":${JSON.stringify(wholeFigures(usage))}`;
}

function wholeFigures(usage: Usage): Usage {
  const figures = FIGURES.map(([name, most]) => [name, figureOf(usage, name, most)] as const);
  return Object.fromEntries(figures.filter(([, figure]) => figure !== undefined));
}

/** A handler may say anything, even something that throws when it is looked at. */
function figureOf(usage: Usage, name: keyof Usage, most: number): number | undefined {
  try {
    const figure = Math.round(numberOf(usage[name]) ?? Number.NaN);
    return figure >= 0 && figure <= most ? figure : undefined;
  } catch {
    return undefined;
  }
}

const FIGURES: readonly (readonly [name: keyof Usage, most: number])[] = [
  ['wallMs', LIMITS.timeMsMax],
  ['cpuMs', LIMITS.timeMsMax],
  ['memoryPeakBytes', Number.MAX_SAFE_INTEGER],
  ['readBytes', Number.MAX_SAFE_INTEGER],
  ['writtenBytes', Number.MAX_SAFE_INTEGER],
];

/** The failure that replaces a report which the server cannot accept. */
export function unsayable(lease: string, code: string, message: string): FinalReport {
  return failure(lease, { kind: 'failed', error: { message, code }, retryable: false }, 0);
}

function failure(
  lease: string,
  { error, retryable, retryAfterMs, usage }: Ending & { kind: 'failed' },
  startedAt: number,
): FinalReport {
  const delayMs = asDelay(retryAfterMs);
  const details = {
    error: {
      message: cut(error.message),
      ...(error.code === undefined ? {} : { code: cut(error.code) }),
      ...(error.stack === undefined ? {} : { stack: cut(error.stack) }),
    },
    ...(retryable === undefined ? {} : { retryable }),
    ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
    ...(usage === undefined ? {} : { usage: wholeFigures(usage) }),
  };
  const text = wordsOf(lease, 'failed', startedAt, JSON.stringify(details).slice(1, -1));
  return said(lease, 'failed', text);
}

function said(lease: string, kind: FinalKind, text: string): FinalReport {
  return { lease, kind, text, isFinal: true };
}

function wordsOf(lease: string, kind: FinalKind, startedAt: number, more = ''): string {
  const started = startedAt > 0 && kind !== 'refused' ? `,"startedAt":${startedAt}` : '';
  const details = more === '' ? '' : `,${more}`;
  return `{"lease":${JSON.stringify(lease)},"kind":"${kind}"${started}${details}}`;
}

function cut(text: string): string {
  return clippedText(text, ERROR_CHARACTERS_MAX);
}

/** A value that is not a number is ignored; then the task's `retry` decides. */
export function asDelay(given: unknown): number | undefined {
  const ms = numberOf(given);
  if (ms === undefined) return undefined;
  return Math.round(Math.min(Math.max(0, Number.isNaN(ms) ? 0 : ms), LIMITS.delayMsMax));
}
