import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { type Call, type FakeUpstream, fakeUpstream, type Respond } from '../../pipeline/support/upstream.ts'
import { openWorld, type World, type WorldOptions } from '../../pipeline/support/world.ts'
import { fetchVendors, respondAsVendor, searchVendors } from './vendors.ts'

const providers = [...new Set([...searchVendors, ...fetchVendors].map(({ provider }) => provider))]

/** Opens a gateway with a connection to every vendor. The fakes respond unless `respond` returns a response. */
export async function openWeb(
  options: WorldOptions & {
    respond?: (call: Call) => ReturnType<Respond> | Promise<Response | undefined> | undefined
  } = {},
): Promise<World & { upstream: FakeUpstream; sent(): Sent }> {
  const { respond, ...rest } = options
  const upstream = fakeUpstream(async (call) => (await respond?.(call)) ?? respondAsVendor(call))
  const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: providers, ...rest })
  return { ...world, upstream, sent: () => getSent(upstream.calls.at(-1)) }
}

interface Sent {
  address: string
  headers: Record<string, string>
  /** The body or query parameters. */
  input: Record<string, unknown>
}

function getSent(call: Call | undefined): Sent {
  if (!call) throw new Error('Nothing was sent.')
  const { url, headers, body, init } = call
  return {
    address: `${init.method} ${url.origin}${url.pathname}`,
    headers: Object.fromEntries(headers),
    input: body === '' ? Object.fromEntries(url.searchParams) : JSON.parse(body),
  }
}

/** Returns the fields that were dropped, according to the response, in sorted order. */
export const lost = (response: Response): string[] =>
  (response.headers.get('x-signalbox-warning') ?? '').split(', ').filter(Boolean).sort()
