/** The violation, unless the condition holds. */
export function violationUnless(holds: boolean, words: string): string[] {
  return holds ? [] : [words];
}
