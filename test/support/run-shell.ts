import { type ExecFileException, execFile } from 'node:child_process';

interface ShellOptions {
  cwd: string;
  env: Record<string, string | undefined>;
}

interface ShellEnd {
  code: number;
  out: string;
  err: string;
}

/** Runs a script like a step of GitHub Actions: the first command that fails ends it. */
export function runShell(script: string, options: ShellOptions): Promise<ShellEnd> {
  const args = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
  return new Promise((resolve, reject) => {
    execFile('bash', args, options, (error: ExecFileException | null, out, err) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, out, err });
      else reject(error ?? new Error('bash has not started'));
    });
  });
}
