/** How long a hold lasts unless it is renewed. */
export const HOLD_TTL = '5 seconds';
