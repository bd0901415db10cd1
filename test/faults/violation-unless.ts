/** The words, unless what they complain of is not so. */
export function violationUnless(holds: boolean, words: string): string[] {
  return holds ? [] : [words];
}
