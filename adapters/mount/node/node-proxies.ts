import { BlockList, isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { Dispatcher } from 'undici'

/**
 * Creates a dispatcher that uses the proxies in `HTTPS_PROXY` and `HTTP_PROXY`, except for this machine and the hosts in `noProxy`. Rejects with a
 * `NoProxyError` for an entry that it can't parse, and with a `TypeError` for a proxy that isn't an http or https URL.
 */
export async function createEnvironmentProxies(noProxy: string): Promise<Dispatcher> {
  const isDirect = readNoProxy(noProxy)
  const { Agent, Dispatcher: BaseDispatcher, EnvHttpProxyAgent } = await import('undici')
  const proxied = new EnvHttpProxyAgent({ noProxy: '' }) // undici's own parser of NO_PROXY doesn't support networks
  const directAgent = new Agent()

  class EnvironmentProxies extends BaseDispatcher {
    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const isExcluded = options.origin !== undefined && isDirect(new URL(options.origin))
      return (isExcluded ? directAgent : proxied).dispatch(options, handler)
    }

    override async close(): Promise<void> {
      await Promise.all([proxied.close(), directAgent.close()])
    }

    override async destroy(): Promise<void> {
      await Promise.all([proxied.destroy(), directAgent.destroy()])
    }
  }
  return new EnvironmentProxies()
}

/** An invalid entry in `NO_PROXY`. Ignoring it would send requests to the proxy. */
export class NoProxyError extends Error {
  override readonly name = 'NoProxyError'
}

/**
 * Parses `NO_PROXY` as curl, Go, Python, and Node do: names with their subdomains, `*` for any characters, addresses, networks, ranges, and ports.
 * The returned function checks whether a URL bypasses the proxy; URLs of this machine always do. Names aren't resolved. Throws a `NoProxyError`.
 */
export function readNoProxy(noProxy: string): (url: URL) => boolean {
  const rules = `localhost,127.0.0.0/8,::1,${noProxy}`
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(readEntry)
  return ({ protocol, hostname, port }) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
    const calledPort = Number(port || DEFAULT_PORTS[protocol])
    return rules.some((rule) => (rule.port ?? calledPort) === calledPort && rule.matches(host))
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

interface DirectRule {
  matches: Matches
  /** The port. Default: every port. */
  port?: number
}

type Matches = (host: string) => boolean

function readEntry(entry: string): DirectRule {
  const entryPattern = readHosts(entry)
  if (entryPattern) return { matches: entryPattern }
  const [, hosts = '', port = ''] = /^(.+):(\d{1,5})$/.exec(entry) ?? []
  const matches = Number(port) >= 1 && Number(port) <= 65_535 ? readHosts(hosts) : undefined
  if (matches) return { matches, port: Number(port) }
  throw new NoProxyError(
    `NO_PROXY: cannot parse "${entry}". Use a host name (example.com, *.example.com), an IP address, or a network (10.0.0.0/8), each with an optional port, separated by commas.`,
  )
}

/** Parses an entry without a port. Returns `undefined` if its form is unknown. */
function readHosts(hosts: string): Matches | undefined {
  if (hosts === '*') return () => true
  return readNetwork(hosts) ?? (/^[.*]*\d[\d.*]*$/.test(hosts) ? readAddressPattern(hosts) : readNamePattern(hosts))
}

/** Parses an address, a network such as `10.0.0.0/8`, or a range such as `10.0.0.1-10.0.0.9`. */
function readNetwork(hosts: string): Matches | undefined {
  const [, first = '', sign, end = ''] = /^\[?([^[\]/-]+)\]?(?:([/-])\[?([^[\]/-]+)\]?)?$/.exec(hosts) ?? []
  const type = getAddressType(first)
  if (type === undefined) return undefined
  const blockList = new BlockList()
  try {
    if (sign === undefined) blockList.addAddress(first, type)
    else if (sign === '-') blockList.addRange(first, end, type)
    else blockList.addSubnet(first, /^\d+$/.test(end) ? Number(end) : Number.NaN, type)
  } catch {
    return undefined
  }
  return (host) => {
    const called = getAddressType(host)
    return called !== undefined && blockList.check(host, called)
  }
}

const getAddressType = (text: string) => ADDRESS_TYPES[isIP(text)]
const ADDRESS_TYPES: Readonly<Record<number, 'ipv4' | 'ipv6'>> = { 4: 'ipv4', 6: 'ipv6' }

/** Parses an IPv4 address that contains `*`, such as `10.*`. It never matches a hostname. */
function readAddressPattern(pattern: string): Matches | undefined {
  if (!pattern.includes('*')) return undefined // it's an incomplete address, because names don't end in a number
  const glob = createGlob(pattern)
  return (host) => isIP(host) === 4 && glob.test(host)
}

/** Parses a name, which includes its subdomains. A leading dot or `*.` makes no difference, as in curl and undici. */
function readNamePattern(pattern: string): Matches | undefined {
  const name = pattern.replace(/^(?:\*?\.)+/, '').replace(/\.$/, '')
  if (!/^(?:[\w.*-]|\P{ASCII})+$/u.test(name)) return undefined
  const ascii = name.includes('*') ? name.toLowerCase() : domainToASCII(name)
  if (ascii === '' || /(?:^|\.)\d+$/.test(ascii)) return undefined
  const glob = createGlob(`*.${ascii}`)
  return (host) => glob.test(`.${host}`)
}

const createGlob = (pattern: string) => new RegExp(`^${pattern.replaceAll('.', '\\.').replace(/\*+/g, '.*')}$`)
