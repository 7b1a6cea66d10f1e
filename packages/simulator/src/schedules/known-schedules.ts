/** A change that the server acknowledged. */
export interface AcknowledgedChange {
  readonly name: string;
  /** The number in the input of the schedule that was put; undefined for a delete. */
  readonly input: number | undefined;
}

/** What the clients know of schedules, from answers. */
export class KnownSchedules {
  readonly changes: AcknowledgedChange[] = [];
  /** Ids of tasks and runs that triggers made. */
  readonly triggered: string[] = [];
}
