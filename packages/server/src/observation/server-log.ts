import type { FastifyBaseLogger } from 'fastify';
import { LOG_LEVELS, type LogFields, type LogLevel } from '../base/log-level.ts';
import type { Refusal } from '../http/refusal.ts';

export interface LogOptions {
  readonly level: LogLevel;
  readonly write: (line: string) => void;
  /** Readable text instead of one JSON object per line. */
  readonly isPretty?: boolean;
  readonly clock?: () => number;
}

/** The server's log, one line per message. */
export class ServerLog {
  private readonly options: LogOptions;
  private readonly lowest: number;

  constructor(options: LogOptions) {
    this.options = options;
    this.lowest = LOG_LEVELS.indexOf(options.level);
  }

  static onStderr(level: LogLevel): ServerLog {
    return new ServerLog({
      level,
      write: (line) => process.stderr.write(`${line}\n`),
      isPretty: process.stderr.isTTY,
    });
  }

  /**
   * Building the fields costs time even when the line is dropped. Check this first when there are
   * many fields.
   */
  has(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) >= this.lowest;
  }

  line(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (!this.has(level)) return;
    const { clock = Date.now, isPretty, write } = this.options;
    const time = new Date(clock()).toISOString();
    if (isPretty !== true) return write(JSON.stringify({ time, level, message, ...fields }));
    const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${value}`);
    write(`${time.slice(11, 23)} ${level.padEnd(5)} ${message}${rest.join('')}`);
  }

  /** A request that was refused or failed, with the id that its client got. */
  refused({ cause, ...fields }: Refusal): void {
    const level = levelOf(fields);
    if (!this.has(level)) return;
    const isFailure = fields.status >= 500;
    const message = isFailure ? 'request failed' : 'request refused';
    this.line(level, message, { ...fields, ...(isFailure ? { cause: causeText(cause) } : {}) });
  }

  /** The web framework logs only what went wrong. */
  forFramework(): FastifyBaseLogger {
    const at = (level: LogLevel) => (details: unknown, message?: string) => {
      if (!this.has(level)) return;
      const { err } = (details ?? {}) as { err?: unknown };
      const text = message ?? (typeof details === 'string' ? details : 'the web framework says');
      this.line(level, text, err === undefined ? {} : { cause: causeText(err) });
    };
    const logger: FastifyBaseLogger = {
      level: this.options.level,
      fatal: at('error'),
      error: at('error'),
      warn: at('warn'),
      // A line per request would cost more than routing the request.
      info: ignore,
      debug: ignore,
      trace: ignore,
      silent: ignore,
      child: () => logger,
    };
    return logger;
  }
}

/**
 * Mistakes of clients are not news for an operator; web pages that try to control the server are.
 */
function levelOf({ code, status }: Pick<Refusal, 'code' | 'status'>): LogLevel {
  if (code === 'internal_error') return 'error';
  if (status >= 500) return 'warn';
  return code === 'forbidden_origin' ? 'info' : 'debug';
}

export function causeText(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  if (!(cause instanceof Error)) return String(cause);
  const text = cause.stack ?? cause.message;
  return cause.cause === undefined ? text : `${text}\ncaused by ${causeText(cause.cause)}`;
}

function ignore(): void {
  // Ignores its arguments.
}
