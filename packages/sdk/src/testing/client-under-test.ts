import type { Cancel, ClientPorts, HttpAnswer, HttpRequest } from '../base/ports.ts';
import { ScriptedHttp, type ScriptedRequest } from './scripted-http.ts';
import { VirtualTime } from './virtual-time.ts';

/** Ports of a client. The test controls its server, network and clock. */
export class ClientUnderTest implements ClientPorts {
  readonly time = new VirtualTime();
  private readonly http = new ScriptedHttp();
  /** While set, everything happens in one turn, which ends when time passes. */
  isOneTurn = false;

  get requests(): ScriptedRequest[] {
    return this.http.requests;
  }

  /** The newest request. */
  get request(): ScriptedRequest {
    return this.requests.at(-1) as ScriptedRequest;
  }

  now(): number {
    return this.time.now();
  }

  startTimer(delayMs: number, run: () => void): Cancel {
    return this.time.startTimer(delayMs, run);
  }

  /** Every step of a test is a separate turn, unless `isOneTurn` is set. */
  atEndOfTurn(run: () => void): void {
    if (this.isOneTurn) this.time.atEndOfTurn(run);
    else run();
  }

  send(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void): Cancel {
    return this.http.send(request, answered);
  }

  random(): number {
    return 0.5;
  }
}
