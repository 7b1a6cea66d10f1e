/** From the most to the least verbose. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields of a line besides its message. Never bodies, keys, session ids or leases. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
