import { NoAnswerError } from '../support/http-client.ts';

/** Counts requests that are sent and not answered. */
export class Flight {
  private count = 0;
  private brokenCount = 0;
  /** From the kill on nothing counts as sent: nobody was there to receive it. */
  private isOver = false;

  get inFlight(): number {
    return this.count;
  }

  /** Requests that were sent before `end` and whose connection broke before their answer. */
  get broken(): number {
    return this.brokenCount;
  }

  end(): void {
    this.isOver = true;
  }

  /** Runs one request; `send` calls `onSent` when the request has left. */
  async track<T>(send: (onSent: () => void) => Promise<T>): Promise<T> {
    let wasSent = false;
    const onSent = (): void => {
      if (this.isOver) return;
      wasSent = true;
      this.count += 1;
    };
    try {
      return await send(onSent);
    } catch (cause) {
      if (wasSent && cause instanceof NoAnswerError) this.brokenCount += 1;
      throw cause;
    } finally {
      if (wasSent) this.count -= 1;
    }
  }
}
