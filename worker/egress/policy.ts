import type { NetworkPolicy } from '../../core/flows/flow.ts';
import { isSandboxLoopback } from '../../core/sandbox/sandbox-loopback.ts';

/** A place that a sandbox asks to be connected to. */
export interface Target {
  host: string;
  port: number;
}

/** What a run may reach. Each host is `name` (port 443), `name:port`, or `*.name` for all below it. */
export interface EgressPolicy {
  policy: NetworkPolicy;
  hosts: string[];
}

const httpsPort = 443;

/** May a sandbox with this policy be connected to the target, as far as its name decides? */
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

/** True when the operator allows this very place although its address is not public. */
export function isException(exceptions: readonly string[], { host, port }: Target): boolean {
  return exceptions.some((exception) => exception.toLowerCase() === authority(host, port));
}

/** `CONNECT` names its target as `host:port`; null for anything else. */
export function parseAuthority(text: string): Target | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]{1,253})):(\d{1,5})$/.exec(text);
  const host = plainName(match?.[1] ?? match?.[2] ?? '');
  const port = Number(match?.[3]);
  if (host === '' || port < 1 || port > 65_535) return null;
  return { host, port };
}

/**
 * The hosts of the https servers among these addresses, each with its port. What a sandbox calls
 * its own loopback is the sandbox itself, and never this machine.
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

/** `Example.COM.` and `example.com` are one name. */
function plainName(host: string): string {
  return host.toLowerCase().replace(/\.+$/, '');
}

function authority(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
