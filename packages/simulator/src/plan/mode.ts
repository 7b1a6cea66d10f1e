/**
 * `safety`: faults to the end of the world. `liveness`: faults stop, and then everything that can
 * end has to end in time.
 */
export type Mode = 'safety' | 'liveness';
