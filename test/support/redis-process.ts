import { type ChildProcess, spawn } from 'node:child_process';

/** A Redis of the test's own, with these settings; without a password and on loopback. */
export async function startRedis(
  port: number,
  settings: Record<string, string> = {},
): Promise<ChildProcess> {
  const own = { port: String(port), bind: '127.0.0.1', save: '', daemonize: 'no' };
  const args = Object.entries({ ...own, ...settings }).flatMap(([name, value]) => [
    `--${name}`,
    value,
  ]);
  const redis = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  for await (const chunk of redis.stdout) {
    output += String(chunk);
    if (output.includes('Ready to accept connections')) break;
  }
  return redis;
}
