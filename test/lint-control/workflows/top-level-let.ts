// breaks: flowrun(no-module-state)
export let runs = 0;

export function count(): number {
  runs += 1;
  return runs;
}
