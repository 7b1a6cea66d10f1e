import { expect, test } from 'vitest';
import { signatureHeaders } from './callback-signature.ts';

/** The first two are published examples. Another implementation made the third. */
test.each([
  {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  {
    secret: 'C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    id: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    timestamp: 1649367553,
    body: '{"email":"test@example.com","username":"test_user"}',
    signature: 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
  },
  {
    secret: `whsec_${Buffer.from(Array.from({ length: 64 }, (_, n) => n)).toString('base64')}`,
    id: 'c_0000000001',
    timestamp: 1700000000,
    body: '{"type":"task.succeeded","data":{"name":"Zoë \u{1f600}"}}',
    signature: 'v1,giWLDHdc7kKp5ONwN5YyLwqgXQc/eaCeQT8CVhEDC/g=',
  },
])('$id is signed as Standard Webhooks says', ({ secret, signature, ...message }) => {
  expect(signatureHeaders(message, secret)).toEqual({
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': signature,
  });
});

test('without a secret there is no signature', () => {
  const headers = signatureHeaders({ id: 'c_1', timestamp: 5, body: '{}' }, undefined);

  expect(headers).toEqual({ 'webhook-id': 'c_1', 'webhook-timestamp': '5' });
});
