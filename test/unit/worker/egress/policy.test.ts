import { expect, test } from 'vitest';
import {
  allowsTarget,
  hostsOfUrls,
  isException,
  parseAuthority,
} from '../../../../worker/egress/policy.ts';

test('limited allows only the listed hosts on their own ports', () => {
  const policy = { policy: 'limited', hosts: ['API.example.com', 'mcp.example.com:8443'] } as const;
  const allows = (host: string, port: number) =>
    allowsTarget({ ...policy, hosts: [...policy.hosts] }, { host, port });
  expect(allows('api.example.com', 443)).toBe(true);
  expect(allows('api.example.com', 80)).toBe(false);
  expect(allows('mcp.example.com', 8443)).toBe(true);
  expect(allows('mcp.example.com', 443)).toBe(false);
  expect(allows('example.com', 443)).toBe(false);
  expect(allows('xapi.example.com', 443)).toBe(false);
  expect(allows('api.example.com.evil.test', 443)).toBe(false);
});

test('a wildcard host matches all its subdomains, but not itself', () => {
  const policy = { policy: 'limited' as const, hosts: ['*.example.com'] };
  expect(allowsTarget(policy, { host: 'a.b.example.com', port: 443 })).toBe(true);
  expect(allowsTarget(policy, { host: 'example.com', port: 443 })).toBe(false);
  expect(allowsTarget(policy, { host: 'badexample.com', port: 443 })).toBe(false);
});

test('open allows every host on port 443, none allows nothing', () => {
  const listed = ['api.example.com'];
  const target = { host: 'anything.test', port: 443 };
  expect(allowsTarget({ policy: 'open', hosts: [] }, target)).toBe(true);
  expect(allowsTarget({ policy: 'open', hosts: [] }, { ...target, port: 22 })).toBe(false);
  expect(
    allowsTarget({ policy: 'none', hosts: listed }, { host: 'api.example.com', port: 443 }),
  ).toBe(false);
});

test.each([
  ['Example.COM.:443', { host: 'example.com', port: 443 }],
  ['[2606:4700::1111]:443', { host: '2606:4700::1111', port: 443 }],
  ['127.0.0.1:65535', { host: '127.0.0.1', port: 65_535 }],
])('parses the authority %s', (text, target) => {
  expect(parseAuthority(text)).toEqual(target);
});

test.each([
  'example.com',
  'example.com:0',
  'example.com:65536',
  ':443',
  '.:443',
  'a b:443',
  'u@h:443',
  'h:443/x',
  '[::1',
  'h:4 43',
  'h:443\r\n',
  '::1:443',
])('rejects the authority "%s"', (text) => {
  expect(parseAuthority(text)).toBeNull();
});

test('allows the hosts and ports in the URLs of https MCP servers, except the sandbox itself', () => {
  const urls = [
    'https://A.test/mcp?k=v',
    'https://b.test:8443/',
    'http://c.test/',
    'nonsense',
    'https://[2606::1]/',
    'https://localhost:8443/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://127.1.2.3/',
    'https://LOCALHOST./',
    'https://127.0.0.2.test/',
  ];
  const others = ['a.test:443', 'b.test:8443', '[2606::1]:443', '127.0.0.2.test:443'];
  expect(hostsOfUrls(urls)).toEqual(others);
});

test('an exception is one host with one port', () => {
  expect(isException(['Internal:8443'], { host: 'internal', port: 8443 })).toBe(true);
  expect(isException(['internal:8443'], { host: 'internal', port: 443 })).toBe(false);
});
