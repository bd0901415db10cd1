import { vi } from 'vitest';
import { main } from '../../../cli/main.ts';

/** What is refused before anything else is looked at: a process for each would show nothing more. */
export async function inThisProcess(args: string[]): Promise<{ code: number; err: string }> {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const code = await main(args);
    return { code, err: written.mock.calls.map(([text]) => String(text)).join('') };
  } finally {
    written.mockRestore();
  }
}
