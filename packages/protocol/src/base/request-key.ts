/** Makes a submit safe to send again. The answer repeats it if the server remembers the request. */
export const REQUEST_KEY_HEADER = 'idempotency-key';

/** How long the request is remembered, in milliseconds. */
export const REQUEST_WINDOW_HEADER = 'idempotency-window-ms';
