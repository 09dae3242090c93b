// Decides which IP addresses URL imports may connect to.
/** IPv4 ranges that are not part of the public internet (RFC 6890 and its successors). */
const NOT_PUBLIC_IPV4 = [
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
] as const

/** Special-purpose ranges within the IPv6 global unicast range. */
const SPECIAL_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

/** Created on first use, because it needs `node:net`. */
let checkAddress: ((address: string) => boolean) | undefined

function createAddressCheck(): (address: string) => boolean {
  const { BlockList, isIP } = process.getBuiltinModule('node:net')
  const blocked = new BlockList()
  for (const [net, bits] of NOT_PUBLIC_IPV4) blocked.addSubnet(net, bits, 'ipv4')
  const unicast = new BlockList()
  unicast.addSubnet('2000::', 3, 'ipv6')
  const special = new BlockList()
  for (const [net, bits] of SPECIAL_IPV6) special.addSubnet(net, bits, 'ipv6')
  return (address) => {
    if (isIP(address) === 4) return !blocked.check(address, 'ipv4')
    return isIP(address) === 6 && unicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
  }
}

/** Returns whether an IP address is public: not private, loopback, link-local or reserved. */
export function isPublicAddress(address: string): boolean {
  checkAddress ??= createAddressCheck()
  return checkAddress(address.replace(/^\[|\]$/g, '').split('%', 1)[0])
}
