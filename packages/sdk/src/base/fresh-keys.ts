import type { ChancePort } from './ports.ts';

/** Makes keys that no other client makes: a random prefix and a count. */
export function freshKeys(chance: ChancePort): () => string {
  const words = Array.from({ length: 4 }, () => Math.floor(chance.random() * 2 ** 32));
  const prefix = words.map((word) => word.toString(36)).join('.');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}.${count.toString(36)}`;
  };
}
