import { BlockList, isIP } from 'node:net'

/** IPv4 ranges that are not part of the public internet (RFC 6890 and its successors). */
const blocked = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  blocked.addSubnet(net, bits, 'ipv4')

/** The IPv6 global unicast range, and the special-purpose ranges within it. */
const given = new BlockList()
given.addSubnet('2000::', 3, 'ipv6')
const special = new BlockList()
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special.addSubnet(net, bits, 'ipv6')

/** Whether an IP address is public: not private, loopback, link-local or reserved. */
export function isPublic(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  if (isIP(bare) === 4) return !blocked.check(bare, 'ipv4')
  return isIP(bare) === 6 && given.check(bare, 'ipv6') && !special.check(bare, 'ipv6')
}
