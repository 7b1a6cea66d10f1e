import type { SimProcess } from '../../kernel/sim-process.ts';
import type { Exchanges, Party, WireRequest } from '../wires/exchange.ts';

export interface WholeAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Whom {
  readonly exchanges: Exchanges;
  readonly party: Party;
  readonly to: string;
  /** Whose clock decides when to give up. */
  readonly after: SimProcess;
}

const ANSWER_MS_MAX = 20_000;

/** `done` gets undefined when there is no answer: the request may or may not have had an effect. */
export function askWhole(
  { exchanges, party, to, after }: Whom,
  request: WireRequest,
  done: (answer: WholeAnswer | 'refused' | undefined) => void,
): void {
  let status = 0;
  const chunks: Uint8Array[] = [];
  const finish = (answer: WholeAnswer | 'refused' | undefined): void => {
    stopTimer();
    done(answer);
  };
  const exchange = exchanges.ask(party, to, request, {
    connected: () => exchange.send(),
    head: (given) => {
      status = given;
    },
    bytes: (chunk) => chunks.push(chunk),
    ended: (how) => {
      if (how === 'refused') finish('refused');
      else finish(how === 'whole' ? { status, body: Buffer.concat(chunks).toString() } : undefined);
    },
  });
  const stopTimer = after.after(ANSWER_MS_MAX, () => {
    exchange.abandon();
    done(undefined);
  });
}
