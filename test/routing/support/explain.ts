import type { ComboModel, Strategy } from '../../../src/types.ts'
import { openPool, type Pool, type PoolOptions } from './pool.ts'

/** The models in the combo `pool`. */
export const models: ComboModel[] = ['one/m', 'two/m', 'three/m']

/** The models' providers: an expensive one, a cheap one, and one without a price. */
export const catalog = {
  one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', price: { input: 5, output: 15 } }] },
  two: { baseUrl: 'http://two.test/v1', models: [{ id: 'm', price: { input: 0.1, output: 0.25 } }] },
  three: { baseUrl: 'http://three.test/v1', models: [{ id: 'm' }] },
}

/** Returns `<provider> <use>: <why>` for each target. */
export async function getLines({ world }: Pick<Pool, 'world'>, request: object = {}) {
  const { targets } = await world.api.explain({ model: 'pool', ...request })
  return targets.map(({ provider, use, why }) => `${provider} ${use}: ${why}`)
}

/** Opens a gateway with the combo `pool`, which uses this strategy. */
export const open = (strategy: Strategy, options: PoolOptions = {}, entries = models) =>
  openPool({ models: entries, strategy }, { catalog, connections: ['one', 'two', 'three'], ...options })
