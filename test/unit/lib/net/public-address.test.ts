import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAddressFilter, isPublicAddress } from '../../../../lib/net/public-address.ts';

const publicAddresses = [
  '8.8.8.8',
  '1.1.1.1',
  '172.15.0.1',
  '172.32.0.1',
  '2606:4700::1111',
  '2a00:1450::1',
];

const otherAddresses = [
  // this machine, private, carrier-grade NAT, link-local and metadata
  '0.0.0.0',
  '0.1.2.3',
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '::',
  '::1',
  'fe80::1',
  'fc00::1',
  'fd00:ec2::254',
  // documentation, benchmarks, protocol assignments, multicast, reserved
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '2001:db8::1',
  '2001:2::1',
  '100::1',
  '3fff::1',
  '5f00::1',
  'ff02::1',
  'fec0::1',
  '4000::1',
  '8000::1',
  // IPv4 in IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '::8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '2001::1',
  '2001:0:7f00:1::',
  // spellings that only some parsers accept as an address
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.0.0.01',
  '[::1]',
  'fe80::1%eth0',
  '2606:4700::1111%eth0',
  'localhost',
  '',
  ' 8.8.8.8',
  '8.8.8.8 ',
];

test.each(publicAddresses)('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each(otherAddresses)('"%s" is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test('no IPv6 address outside 2000::/3 is public', () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(groups, (parts) => {
      const isGlobal = ((parts[0] ?? 0) & 0xe000) === 0x2000;
      const text = parts.map((part) => part.toString(16)).join(':');
      expect(isGlobal || !isPublicAddress(text)).toBe(true);
    }),
  );
});

test('allows listed ranges, in canonical form only', () => {
  const allows = createAddressFilter(['127.0.0.0/8', 'fd00::/8']);
  expect(['127.0.0.1', 'fd12::1', '8.8.8.8'].map(allows)).toEqual([true, true, true]);
  expect(['10.0.0.1', '::1', '::ffff:127.0.0.1', '127.1'].map(allows)).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect(createAddressFilter([])('127.0.0.1')).toBe(false);
});
