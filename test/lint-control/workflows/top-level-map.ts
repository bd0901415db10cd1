// breaks: flowrun(no-module-state)
const seen = new Map<string, number>();

export function note(id: string): void {
  seen.set(id, 1);
}
