/** Whether the first version is newer than the other. Both look like 1.2.3. */
export function isNewer(version: string, other: string): boolean {
  const [left, right] = [version, other].map((text) => text.split(/[.+-]/).map(Number));
  for (let place = 0; place < 3; place++) {
    const [a, b] = [left[place] || 0, right[place] || 0];
    if (a !== b) return a > b;
  }
  return false;
}
