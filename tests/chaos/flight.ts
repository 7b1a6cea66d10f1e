import { NoAnswerError } from '../support/http-client.ts';

/** Counts requests that were sent and not answered. */
export class Flight {
  private count = 0;
  private brokenCount = 0;
  /** After the kill nothing counts as sent, because there is no server to receive it. */
  private isOver = false;

  get inFlight(): number {
    return this.count;
  }

  /** Requests that were sent before `end` and lost their connection before the answer. */
  get broken(): number {
    return this.brokenCount;
  }

  end(): void {
    this.isOver = true;
  }

  /** Runs one request. `send` must call `onSent` when the request was sent. */
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
