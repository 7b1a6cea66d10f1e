import type { ChancePort } from './ports.ts';

export interface BackoffOptions {
  /** The first pause is shorter than this. */
  readonly baseMs: number;
  readonly maxMs: number;
}

export const BACKOFF_DEFAULT: BackoffOptions = { baseMs: 100, maxMs: 5000 };

/**
 * How long to wait before the next try: a random part of a span that doubles with each round of
 * failures. The random part starts at zero, so that many clients that lost the same server do not
 * all return at once.
 */
export class Backoff {
  private readonly chance: ChancePort;
  private readonly options: BackoffOptions;
  private readonly addresses: number;
  private failures = 0;

  /** A round is one try of each address. */
  constructor(chance: ChancePort, options: BackoffOptions, addresses: number) {
    this.chance = chance;
    this.options = options;
    this.addresses = addresses;
  }

  /** The pause after one more failure, added to the time for which the server asked. */
  next(retryAfterMs = 0): number {
    const { baseMs, maxMs } = this.options;
    const round = Math.floor(this.failures / this.addresses);
    this.failures += 1;
    return retryAfterMs + this.chance.random() * Math.min(maxMs, baseMs * 2 ** round);
  }

  reset(): void {
    this.failures = 0;
  }
}
