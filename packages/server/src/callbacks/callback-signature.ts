import { createHmac } from 'node:crypto';
import { secretBase64 } from '@sluice/protocol';

interface SignedMessage {
  /** The same for every try. */
  readonly id: string;
  /** Seconds since 1970 at this try. */
  readonly timestamp: number;
  readonly body: string;
}

/** Headers that identify a message and its sender: Standard Webhooks, version 1. */
export function signatureHeaders(
  message: SignedMessage,
  secret: string | undefined,
): Record<string, string> {
  const { id, timestamp } = message;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(secret === undefined ? {} : { 'webhook-signature': signature(message, secret) }),
  };
}

function signature({ id, timestamp, body }: SignedMessage, secret: string): string {
  const hmac = createHmac('sha256', Buffer.from(secretBase64(secret), 'base64'));
  return `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
