import { expandNames, namesIn } from '../../core/runs/expand-names.ts';
import type { McpServers } from '../../core/runs/run-config.ts';
import { isSandboxLoopback } from '../../core/sandbox/sandbox-loopback.ts';
import { invalid } from '../errors.ts';

type Env = Readonly<Record<string, string>>;

/** Every variable that a URL or a header refers to must be in the `env` of the same request. */
export function checkMcpServers(servers: McpServers, env: Env): void {
  for (const [name, { url, headers = {} }] of Object.entries(servers)) {
    const at = `body.mcpServers.${name}`;
    checkNames(`${at}.url`, url, env);
    checkAddress(`${at}.url`, expandNames(url, env));
    for (const [header, value] of Object.entries(headers)) {
      checkNames(`${at}.headers.${header}`, value, env);
    }
  }
}

function checkNames(at: string, text: string, env: Env): void {
  const foreign = namesIn(text).find((name) => !Object.hasOwn(env, name));
  if (foreign === undefined) return;
  throw invalid(`${at}: \${${foreign.slice(0, 100)}} is not in env`);
}

/** TLS is required except inside the sandbox. */
function checkAddress(at: string, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid(`${at}: must be an http or https URL`);
  if (url.username !== '' || url.password !== '') {
    throw invalid(`${at}: must not contain credentials`);
  }
  if (url.hostname === '[::1]') {
    throw invalid(
      `${at}: is unreachable, because a sandbox has no IPv6; use localhost for the sandbox`,
    );
  }
  if (url.protocol === 'http:' && !isSandboxLoopback(url.hostname)) {
    throw invalid(`${at}: must be https, except for localhost`);
  }
}
