export interface RandomText {
  seed: number;
  /** Every so many texts one is between 16 KiB and 100 KiB long; 0 means none. */
  longEvery: number;
}

const minLongBytes = 16 * 1024;
const maxLongBytes = 100 * 1024;
const spareBytes = 64;

/** The words of random texts: plain and accented, several scripts, astral, escapes, separators. */
const words = [
  'plain',
  'words',
  'of',
  'output',
  'grün',
  'naïve',
  'Ελλάδα',
  'мир',
  '日本語',
  '한국어',
  'שלום',
  '🚀',
  '👩‍👩‍👧',
  'e\u0301',
  '"quoted"',
  'back\\slash',
  'tab\t',
  'nul\u0000',
  'line\u2028sep',
  'two\nlines',
  '{"type":"finished"}',
];

/**
 * Text number `index` of a seeded sequence. A checker makes the same texts again and compares:
 * each begins with its number, so that what is missing, doubled or out of order shows.
 */
export function randomText(index: number, { seed, longEvery }: RandomText): string {
  const random = createRandom(Math.imul(seed, 0x9e3779b1) ^ index);
  const isLong = longEvery > 0 && index % longEvery === longEvery - 1;
  const bytes = isLong
    ? minLongBytes + Math.floor(random() * (maxLongBytes - minLongBytes - spareBytes))
    : Math.floor(random() * 200);
  let text = `#${index}`;
  for (let size = 0; size < bytes; ) {
    const word = words[Math.floor(random() * words.length)] ?? '';
    size += Buffer.byteLength(JSON.stringify(word)) - 1;
    text += ` ${word}`;
  }
  return text;
}

/** A small seeded generator (mulberry32) of numbers from 0 up to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
