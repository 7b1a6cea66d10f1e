import { isIP } from 'node:net';

/** Whether the text is an IP address, or one with a prefix length. */
export function isRange(text: string): boolean {
  const [address, length, ...rest] = text.split('/');
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (length === undefined) return true;
  return /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}
