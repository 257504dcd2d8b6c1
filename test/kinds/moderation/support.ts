import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../../pipeline/support/world.ts'
import { moderationVendors, respondToModeration } from '../support/moderation-vendors.ts'

/** The models as clients name them. */
export const models = { openai: 'openai/omni-moderation-latest', mistral: 'mistral/mistral-moderation-2603' }
/** Opens a gateway with fakes of both vendors. */
export async function open(options: WorldOptions = {}) {
  const upstream = fakeUpstream((call) => {
    const vendor = Object.values(moderationVendors).find(({ url }) => new URL(url).host === call.url.host)
    return vendor ? respondToModeration(vendor, call) : json({}, 404)
  })
  const world = await openWorld({
    fetch: upstream,
    catalog: defaultCatalog,
    connections: ['openai', 'mistral'],
    ...options,
  })
  const send = async (model: string, input: unknown, headers: Record<string, string> = {}) => {
    const response = await world.post('/v1/moderations', { model, input }, { headers })
    const warned = response.headers.get('x-signalbox-warning')?.split(', ') ?? []
    return { status: response.status, warned, body: (await response.json()) as Reply & Rejection, response }
  }
  return { world, upstream, send }
}

export interface Reply {
  id: string
  model: string
  results: Array<{
    flagged: boolean
    categories: Record<string, boolean>
    category_scores: Record<string, number>
    category_applied_input_types: Record<string, string[]>
  }>
}

interface Rejection {
  error: { message: string; param?: string }
}
