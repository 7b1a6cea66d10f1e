/** The starts of the server on its log. Event ids name them. */
export const STARTS_NOTE = 'starts.json';

/** Statistics for charts. */
export const STATS_NOTE = 'stats.json';
