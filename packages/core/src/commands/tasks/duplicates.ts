import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { CLAIM_WORDS, type DedupeClaim } from '../../task/dedupe-claim.ts';

/** The dedupe keys of a submit, one entry per task. */
export interface DedupeClaims {
  /** Eight words per task: hashes of key and body. */
  readonly words: Uint32Array;
  /** 0 for a task without a key. */
  readonly windowsMs: ArrayLike<number>;
}

/** Which tasks of a submit are there already, by their places in it. */
export interface Duplicates {
  /** The first task whose key came with another body; -1 when there is none. */
  readonly mismatchAt: number;
  /** Tasks that were submitted before, with the entry of their key. */
  readonly entries: ReadonlyMap<number, Slot>;
  /** Tasks that stand in the same submit before. */
  readonly earlier: ReadonlyMap<number, number>;
}

const NONE: Duplicates = { mismatchAt: -1, entries: new Map(), earlier: new Map() };

/** Looks up every key of a submit, before any of its tasks is accepted. */
export function findDuplicates(decision: Decision, claims: DedupeClaims | undefined): Duplicates {
  if (claims === undefined) return NONE;
  const { state } = decision;
  const entries = new Map<number, Slot>();
  const earlier = new Map<number, number>();
  const fresh = new FreshKeys(claims);
  const claim: DedupeClaim = { words: claims.words, start: 0, windowMs: 0 };
  for (let i = 0; i < claims.windowsMs.length; i++) {
    pointAtClaim(claim, claims, i);
    if (claim.windowMs === 0) continue;
    const entry = liveEntry(decision, claim);
    if (entry !== NO_SLOT) {
      if (!state.dedupe.hasSameBody(entry, claim)) return { ...NONE, mismatchAt: i };
      entries.set(i, entry);
      continue;
    }
    const before = fresh.add(i);
    if (before < 0) continue;
    if (!agree(claims, before, i, BODY)) return { ...NONE, mismatchAt: i };
    earlier.set(i, before);
  }
  return { mismatchAt: -1, entries, earlier };
}

/** The keys of a submit that nobody had before it. */
class FreshKeys {
  private readonly claims: DedupeClaims;
  /** By the first word of the key: the newest claim with it. */
  private readonly newest = new Map<number, number>();
  /** The claim before, with the same first word and mostly another key. */
  private readonly previous = new Map<number, number>();

  constructor(claims: DedupeClaims) {
    this.claims = claims;
  }

  /** The claim that has the key already; -1 when there is none, and from now on this one has it. */
  add(index: number): number {
    const word = this.claims.words[index * CLAIM_WORDS];
    const newest = this.newest.get(word);
    for (let before = newest; before !== undefined; before = this.previous.get(before)) {
      if (agree(this.claims, before, index, KEY)) return before;
    }
    if (newest !== undefined) this.previous.set(index, newest);
    this.newest.set(word, index);
    return -1;
  }
}

/** Which words of a claim are of what. */
const KEY = { from: 0, to: CLAIM_WORDS / 2 };
const BODY = { from: CLAIM_WORDS / 2, to: CLAIM_WORDS };

export function pointAtClaim(claim: DedupeClaim, claims: DedupeClaims, index: number): void {
  claim.words = claims.words;
  claim.start = index * CLAIM_WORDS;
  claim.windowMs = claims.windowsMs[index];
}

/** The entry of a key. One whose window is over is forgotten, heard by its timer or not. */
function liveEntry(decision: Decision, claim: DedupeClaim): Slot {
  const { dedupe } = decision.state;
  const entry = dedupe.find(claim);
  if (entry === NO_SLOT || dedupe.expiresAt[entry] > decision.now) return entry;
  forgetKey(decision, entry);
  return NO_SLOT;
}

/** Forgets keys whose windows are over, `most` of them; answers how many. */
export function forgetKeys(decision: Decision, most: number): number {
  const { state, now } = decision;
  let forgotten = 0;
  for (; forgotten < most; forgotten++) {
    const entry = state.dedupe.firstDue(now);
    if (entry === NO_SLOT) break;
    forgetKey(decision, entry);
  }
  return forgotten;
}

function forgetKey({ state, emit, events }: Decision, entry: Slot): void {
  events.dedupeForgotten.slot = entry;
  events.dedupeForgotten.task = state.dedupe.task[entry] as TaskNumber;
  emit(events.dedupeForgotten);
}

function agree(
  { words }: DedupeClaims,
  one: number,
  other: number,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  for (let i = from; i < to; i++) {
    if (words[one * CLAIM_WORDS + i] !== words[other * CLAIM_WORDS + i]) return false;
  }
  return true;
}
