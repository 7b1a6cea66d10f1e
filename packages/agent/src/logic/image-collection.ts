/** An image that the agent pulled. */
export interface KeptImage {
  readonly name: string;
  /** When a container last used it. */
  readonly usedAt: number;
}

export interface CollectionRules {
  readonly now: number;
  readonly ageMsMax: number;
  /** The disk is nearly full: every image that nothing uses goes. */
  readonly isUnderPressure: boolean;
  /** Names of images that attempts use now. */
  readonly inUse: ReadonlySet<string>;
}

/** The images to remove, the longest unused first. */
export function imagesToRemove(
  images: readonly KeptImage[],
  { now, ageMsMax, isUnderPressure, inUse }: CollectionRules,
): string[] {
  return images
    .filter(({ name, usedAt }) => {
      return !inUse.has(name) && (isUnderPressure || now - usedAt > ageMsMax);
    })
    .sort((a, b) => a.usedAt - b.usedAt)
    .map(({ name }) => name);
}
