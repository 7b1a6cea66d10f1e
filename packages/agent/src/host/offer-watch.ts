import {
  diskProblem,
  type HostOffer,
  type HostResources,
  isOtherOffer,
  offerOf,
  type Reserve,
} from '../logic/offer.ts';

const LOOK_EVERY_MS = 5000;

export interface OfferPorts {
  readonly measure: () => Promise<HostResources>;
  /** Bytes that the attempts which run have written. */
  readonly writtenBytes: () => number;
  readonly gpus: number;
  readonly reserve: Reserve;
  readonly onOffer: (offer: HostOffer) => void;
  /** The disk became full, with what to say, or has room again. */
  readonly onDisk: (problem: string | undefined) => void;
}

/** Looks now and then whether the host still has what it offered. */
export class OfferWatch {
  private readonly ports: OfferPorts;
  private told: HostOffer;
  private isFull = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(offer: HostOffer, ports: OfferPorts) {
    this.told = offer;
    this.ports = ports;
    this.wait();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private wait(): void {
    this.timer = setTimeout(() => void this.look(), LOOK_EVERY_MS);
  }

  private async look(): Promise<void> {
    const { measure, writtenBytes, gpus, reserve, onOffer, onDisk } = this.ports;
    // A host that cannot be measured now has what it had.
    const host = await measure().catch(() => undefined);
    if (this.timer === undefined) return;
    if (host !== undefined) {
      const offer = offerOf(host, reserve, { gpus, writtenBytes: writtenBytes() });
      if (isOtherOffer(this.told, offer)) {
        this.told = offer;
        onOffer(offer);
      }
      const problem = diskProblem(host, reserve);
      if (this.isFull !== (problem !== undefined)) onDisk(problem);
      this.isFull = problem !== undefined;
    }
    this.wait();
  }
}
