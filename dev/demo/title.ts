import { print } from '../lib/progress.ts';

export function title(text: string): void {
  print(`\n── ${text}`);
}

export function indented(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/^/gm, '  ');
}
