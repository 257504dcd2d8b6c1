import type { JsonObject } from '../../../src/lib/json.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream } from '../../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../../pipeline/support/world.ts'
import { type RerankVendor, rerankVendors, respondAsVendor } from '../support/rerank-vendors.ts'

export type VendorName = keyof typeof rerankVendors

/** Returns the name of a vendor's model as clients use it. */
export const getModel = (name: VendorName): string => `${rerankVendors[name].provider}/${rerankVendors[name].model}`

/** Opens a gateway with fakes of all vendors. */
export async function openVendors(options: WorldOptions = {}) {
  const vendors: RerankVendor[] = Object.values(rerankVendors)
  const upstream = fakeUpstream((call) => {
    const vendor = vendors.find(({ url }) => new URL(url).host === call.url.host)
    return vendor ? respondAsVendor(vendor, call) : new Response('{}', { status: 404 })
  })
  const connections = vendors.map(({ provider, connection }) => ({ provider, ...connection }))
  const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections, ...options })
  const send = (model: string, path: string, body: JsonObject, headers: Record<string, string> = {}) =>
    world.post(path, { model, ...body }, { headers })
  return { world, upstream, send }
}

/** Opens the same gateway, and a function that sends requests to one vendor's model. */
export async function openVendor(name: VendorName, options: WorldOptions = {}) {
  const { world, upstream, send } = await openVendors(options)
  return {
    world,
    upstream,
    send: (path: string, body: JsonObject, headers: Record<string, string> = {}) =>
      send(getModel(name), path, body, headers),
  }
}
