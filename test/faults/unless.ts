/** The words, unless what they complain of is not so. */
export function unless(holds: boolean, words: string): string[] {
  return holds ? [] : [words];
}
