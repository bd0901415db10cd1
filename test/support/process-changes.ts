import { vi } from 'vitest';

/** Remembers the state of the process. The result names what differs from it. */
export function watchProcess(): () => string[] {
  const env = { ...process.env };
  const folder = process.cwd();
  const { exitCode } = process;
  return () => {
    const names = new Set([...Object.keys(env), ...Object.keys(process.env)]);
    return [
      ...[...names].filter((name) => process.env[name] !== env[name]),
      ...(process.cwd() === folder ? [] : ['working directory']),
      ...(process.exitCode === exitCode ? [] : ['exit code']),
      ...(vi.isFakeTimers() ? ['fake timers'] : []),
    ];
  };
}
