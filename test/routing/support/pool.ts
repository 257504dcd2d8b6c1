import type { NewCombo } from '../../../src/admin/combos.ts'
import { chatResponse } from '../../pipeline/support/responses.ts'
import { type FakeUpstream, fakeUpstream, json, type Respond } from '../../pipeline/support/upstream.ts'
import { openWorld, type World, type WorldOptions } from '../../pipeline/support/world.ts'

/** A gateway with the combo `pool`. */
export interface Pool {
  world: World
  upstream: FakeUpstream
  /** Each provider's failure status. Providers that aren't listed respond normally. */
  down: Map<string, number>
  /** Sends this many requests one by one. Resolves to the providers that each one called, such as `one>two` if `one` failed. */
  sendAll(times: number, body?: object, init?: RequestInit): Promise<string>
}

export type PoolOptions = WorldOptions & { respond?: Respond }

export async function openPool(combo: string[] | Omit<NewCombo, 'name'>, options: PoolOptions = {}): Promise<Pool> {
  const { respond = () => json(chatResponse()), ...extra } = options
  const down = new Map<string, number>()
  const upstream = fakeUpstream((call, index) => {
    const status = down.get(call.provider)
    return status === undefined ? respond(call, index) : json({ error: { message: 'down' } }, status)
  })
  const world = await openWorld({ fetch: upstream, ...extra, combos: { pool: combo, ...options.combos } })
  return { world, upstream, down, sendAll: createRequest(world, upstream) }
}

/** Opens another gateway on the same storage, like another process. It calls the same providers. */
export async function joinPool(
  { world: { clock }, upstream }: Pool,
  options: WorldOptions,
): Promise<Pick<Pool, 'world' | 'sendAll'>> {
  const world = await openWorld({ fetch: upstream, clock, connections: [], ...options })
  return { world, sendAll: createRequest(world, upstream) }
}

const createRequest =
  (world: World, upstream: FakeUpstream): Pool['sendAll'] =>
  async (times, body = {}, init = {}) => {
    const seen: string[] = []
    for (let time = 0; time < times; time++) {
      const before = upstream.calls.length
      await (await world.chat({ model: 'pool', ...body }, init)).text()
      seen.push(upstream.providers.slice(before).join('>'))
    }
    return seen.join(' ')
  }

/** Counts how often each of these strings occurs. */
export function getCount(texts: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1
  return counts
}
