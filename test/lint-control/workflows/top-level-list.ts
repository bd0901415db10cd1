// breaks: flowrun(no-module-state)
const seen: string[] = [];

export function note(id: string): void {
  seen.push(id);
}
