/** The violation, unless the condition holds. */
export function violationUnless(condition: boolean, violation: string): string[] {
  return condition ? [] : [violation];
}
