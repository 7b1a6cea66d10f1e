export interface ProjectionStatus {
  /** `failing` while it cannot write; `ended` until the next start. */
  readonly state: 'ok' | 'failing' | 'ended';
  /** The cause when it is not `ok`. */
  readonly why?: string;
  /** The first record that it has not seen. */
  readonly position: number;
  readonly lagRecords: number;
  readonly lagMs: number;
  /** Size of its files. */
  readonly bytes: number;
}
