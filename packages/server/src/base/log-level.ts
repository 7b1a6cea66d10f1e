/** From the chattiest on. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** What belongs to a line beside its message. Never bodies, keys, session ids or leases. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
