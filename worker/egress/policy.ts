import type { NetworkPolicy } from '../../core/flows/flow.ts';
import { isSandboxLoopback } from '../../core/sandbox/sandbox-loopback.ts';

/** A target that a sandbox wants to connect to. */
export interface Target {
  host: string;
  port: number;
}

/** The targets that a run may reach. Each is `name` (port 443), `name:port`, or `*.name`. */
export interface EgressPolicy {
  policy: NetworkPolicy;
  hosts: string[];
}

const httpsPort = 443;

/** Whether the policy allows the target's name. Its addresses are checked later. */
export function allowsTarget(policy: EgressPolicy, target: Target): boolean {
  switch (policy.policy) {
    case 'none':
      return false;
    case 'open':
      return target.port === httpsPort || isListed(policy.hosts, target);
    case 'limited':
      return isListed(policy.hosts, target);
  }
}

/** True if the operator allows this target although its address is not public. */
export function isException(exceptions: readonly string[], { host, port }: Target): boolean {
  return exceptions.some((exception) => exception.toLowerCase() === authority(host, port));
}

/** Parses the `host:port` of CONNECT. Null for anything else. */
export function parseAuthority(text: string): Target | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]{1,253})):(\d{1,5})$/.exec(text);
  const host = plainName(match?.[1] ?? match?.[2] ?? '');
  const port = Number(match?.[3]);
  if (host === '' || port < 1 || port > 65_535) return null;
  return { host, port };
}

/**
 * The hosts of the https URLs, each with its port. Loopback addresses are skipped: in a sandbox
 * they name the sandbox itself.
 */
export function hostsOfUrls(urls: readonly string[]): string[] {
  return urls.flatMap((text) => {
    const url = parseUrl(text);
    if (url?.protocol !== 'https:') return [];
    const host = plainName(url.hostname.replace(/^\[|\]$/g, ''));
    if (isSandboxLoopback(host)) return [];
    return [authority(host, url.port === '' ? httpsPort : Number(url.port))];
  });
}

function isListed(hosts: readonly string[], target: Target): boolean {
  return hosts.some((entry) => {
    const listed = parseAuthority(entry) ?? { host: plainName(entry), port: httpsPort };
    if (listed.port !== target.port) return false;
    if (listed.host.startsWith('*.')) return target.host.endsWith(listed.host.slice(1));
    return listed.host === target.host;
  });
}

/** `Example.COM.` and `example.com` are the same name. */
function plainName(host: string): string {
  return host.toLowerCase().replace(/\.+$/, '');
}

function authority(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
