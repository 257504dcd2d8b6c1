import type { NewCombo } from '../../../src/admin/combos.ts'
import { chatAnswer } from '../../pipeline/support/responses.ts'
import { type Answering, type FakeUpstream, fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld, type World, type WorldOptions } from '../../pipeline/support/world.ts'

/** The combo `pool` in a separate world. */
export interface Pool {
  world: World
  up: FakeUpstream
  /** The failure status of each provider. Providers that aren't listed respond normally. */
  down: Map<string, number>
  /** Sends this many requests one after another. Returns the providers that each one called, such as `one>two` when `one` failed. */
  asks(times: number, body?: object, init?: RequestInit): Promise<string>
}

export type PoolOptions = WorldOptions & { answer?: Answering }

export async function openPool(combo: string[] | Omit<NewCombo, 'name'>, options: PoolOptions = {}): Promise<Pool> {
  const { answer = () => json(chatAnswer()), ...more } = options
  const down = new Map<string, number>()
  const up = fakeUpstream((call, nth) => {
    const status = down.get(call.provider)
    return status === undefined ? answer(call, nth) : json({ error: { message: 'down' } }, status)
  })
  const world = await openWorld({ fetch: up, ...more, combos: { pool: combo, ...options.combos } })
  return { world, up, down, asks: asking(world, up) }
}

/** Opens another gateway on the same storage, like another process. It calls the same providers. */
export async function joinPool(
  { world: { clock }, up }: Pool,
  options: WorldOptions,
): Promise<Pick<Pool, 'world' | 'asks'>> {
  const world = await openWorld({ fetch: up, clock, connections: [], ...options })
  return { world, asks: asking(world, up) }
}

const asking =
  (world: World, up: FakeUpstream): Pool['asks'] =>
  async (times, body = {}, init = {}) => {
    const seen: string[] = []
    for (let time = 0; time < times; time++) {
      const before = up.calls.length
      await (await world.chat({ model: 'pool', ...body }, init)).text()
      seen.push(up.providers.slice(before).join('>'))
    }
    return seen.join(' ')
  }

/** Counts how often each of these strings occurs. */
export function countOf(texts: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1
  return counts
}
