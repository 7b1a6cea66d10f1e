import { SAMPLE_RATE } from './wav.ts';

const BEATS_PER_SECOND = 2;
const LOUDNESS = 9000;

/** Steps of a pentatonic scale: any sequence of them sounds well. */
const SCALE = [0, 2, 4, 7, 9, 12, 14, 16];

/** A tune of this length; the same seed gives the same tune. */
export function melody(seconds: number, seed: number): Int16Array {
  const samples = new Float64Array(Math.round(seconds * SAMPLE_RATE));
  const random = randomNumbers(seed);
  for (let beat = 0; beat < seconds * BEATS_PER_SECOND; beat++) {
    if (random() < 0.15) continue;
    const step = SCALE[Math.floor(random() * SCALE.length)];
    const isLong = random() < 0.2;
    pluck(samples, beat / BEATS_PER_SECOND, {
      hertz: 220 * 2 ** (step / 12),
      seconds: isLong ? 3 : 0.8,
      loudness: LOUDNESS * (0.4 + 0.6 * random()),
    });
  }
  return Int16Array.from(samples, (sample) => Math.max(-32_767, Math.min(32_767, sample)));
}

interface Note {
  readonly hertz: number;
  readonly seconds: number;
  readonly loudness: number;
}

/** Adds a string that is plucked and dies away. */
function pluck(samples: Float64Array, at: number, { hertz, seconds, loudness }: Note): void {
  const from = Math.round(at * SAMPLE_RATE);
  const to = Math.min(samples.length, from + Math.round(seconds * SAMPLE_RATE));
  for (let place = from; place < to; place++) {
    const time = (place - from) / SAMPLE_RATE;
    const fade = Math.exp((-4 * time) / seconds);
    const turn = 2 * Math.PI * hertz * time;
    samples[place] += loudness * fade * (Math.sin(turn) + 0.3 * Math.sin(2 * turn));
  }
}

/** From 0 up to, but not including, 1. The same seed gives the same numbers. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
