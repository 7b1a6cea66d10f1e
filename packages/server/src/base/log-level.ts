/** From the most to the least verbose. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Fields of a line besides its message. Never bodies, keys, session ids or leases. A field with the
 * name of a part that every line has would replace it.
 */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>> & {
  readonly [part in 'time' | 'level' | 'message']?: never;
};
