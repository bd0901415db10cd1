import { vi } from 'vitest';
import { main } from '../../../cli/main.ts';

/**
 * Runs commands that fail during validation in this process, since separate ones would show nothing
 * more.
 */
export async function inThisProcess(args: string[]): Promise<{ code: number; err: string }> {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const code = await main(args);
    return { code, err: written.mock.calls.map(([text]) => String(text)).join('') };
  } finally {
    written.mockRestore();
  }
}
