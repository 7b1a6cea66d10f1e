/** The worker's side of the protocol, call by call. The test decides what the worker does. */
import { EventStreamParser } from '@sluice/sdk/logic';
import type { HttpClient, HttpStream } from './http-client.ts';

export interface Welcome {
  readonly sessionId: string;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly resumed: boolean;
  readonly lost: readonly string[];
}

export interface PushedTask {
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  readonly lease: string;
  readonly input: unknown;
}

export interface CancelNotice {
  readonly id: string;
  readonly lease: string;
  readonly graceMs: number;
  readonly reason: string;
}

export interface SignalNotice {
  readonly id: string;
  readonly lease: string;
  readonly name: string;
  readonly data: unknown;
}

export interface SessionRequest {
  readonly name: string;
  readonly version?: string;
  readonly types: readonly { readonly type: string; readonly concurrency?: number }[];
  readonly capacity?: { readonly slots: number; readonly cpu?: number };
  readonly labels?: Readonly<Record<string, string>>;
  readonly leaseMs?: number;
  readonly resume?: { readonly sessionId: string; readonly running: readonly string[] };
}

export interface WorkerListener {
  readonly onWelcome: (welcome: Welcome) => void;
  readonly onTasks: (tasks: readonly PushedTask[]) => void;
  readonly onCancel?: (notice: CancelNotice) => void;
  readonly onSignal?: (notice: SignalNotice) => void;
}

export type FinalReport =
  | { readonly lease: string; readonly kind: 'succeeded'; readonly output: unknown }
  | {
      readonly lease: string;
      readonly kind: 'failed';
      readonly error: { readonly message: string };
    };

export type Outcome = 'ok' | 'duplicate' | 'stale_lease';

/** Opens the stream of a new or resumed session. */
export function openWorkerStream(
  http: HttpClient,
  body: SessionRequest,
  listener: WorkerListener,
): HttpStream {
  const parser = new EventStreamParser(({ name, data }) => {
    if (name === 'welcome') listener.onWelcome(JSON.parse(data) as Welcome);
    if (name === 'cancel') listener.onCancel?.(JSON.parse(data) as CancelNotice);
    if (name === 'signal') listener.onSignal?.(JSON.parse(data) as SignalNotice);
    if (name === 'tasks') listener.onTasks(JSON.parse(data) as PushedTask[]);
  });
  return http.open({ method: 'POST', path: '/v1/worker-sessions', body }, (chunk) =>
    parser.push(chunk),
  );
}

/** Sends reports and returns their outcomes, in the same order. */
export async function sendReports(
  http: HttpClient,
  sessionId: string,
  { reports, onSent }: { readonly reports: readonly FinalReport[]; readonly onSent?: () => void },
): Promise<readonly Outcome[]> {
  const { status, text } = await http.send({
    method: 'POST',
    path: `/v1/worker-sessions/${sessionId}/reports`,
    body: { reports },
    ...(onSent === undefined ? {} : { onSent }),
  });
  if (status !== 200) throw new Error(`the reports were answered with ${status}: ${text}`);
  return (JSON.parse(text) as { outcomes: Outcome[] }).outcomes;
}
