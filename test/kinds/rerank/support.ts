import type { JsonObject } from '../../../src/lib/json.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream } from '../../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../../pipeline/support/world.ts'
import { answerOf, type RerankVendor, rerankVendors } from '../support/rerank-vendors.ts'

export type VendorName = keyof typeof rerankVendors

/** The name of a vendor's model, as clients call it. */
export const modelOf = (name: VendorName): string => `${rerankVendors[name].provider}/${rerankVendors[name].model}`

/** A gateway with fakes of all vendors. */
export async function openVendors(options: WorldOptions = {}) {
  const vendors: RerankVendor[] = Object.values(rerankVendors)
  const up = fakeUpstream((call) => {
    const vendor = vendors.find(({ url }) => new URL(url).host === call.url.host)
    return vendor ? answerOf(vendor, call) : new Response('{}', { status: 404 })
  })
  const connections = vendors.map(({ provider, connection }) => ({ provider, ...connection }))
  const world = await openWorld({ fetch: up, catalog: defaultCatalog, connections, ...options })
  const ask = (model: string, path: string, body: JsonObject, headers: Record<string, string> = {}) =>
    world.post(path, { model, ...body }, { headers })
  return { world, up, ask }
}

/** The same with requests for the model of one of them. */
export async function openVendor(name: VendorName, options: WorldOptions = {}) {
  const { world, up, ask } = await openVendors(options)
  return {
    world,
    up,
    ask: (path: string, body: JsonObject, headers: Record<string, string> = {}) =>
      ask(modelOf(name), path, body, headers),
  }
}
