import type { Awaitable } from '../lib/awaitable.ts'
import type { Mutex } from '../lib/mutex.ts'
import type { RouteTable } from '../routing/table.ts'
import type { AliasRecord, Store } from '../store/store.ts'
import { findCycle, shownCycle } from './cycle.ts'
import { fields } from './fields.ts'
import { findRecord, present } from './find.ts'
import { closed, invalidInput, parseInput } from './input.ts'

/** The answer to a change that holds and cannot work yet. */
export interface Warned {
  warnings?: string[]
}

/**
 * The model alias map (spec.md, Other records). `Input` is accepted besides the typed input: nothing in process, `unknown` for bodies over
 * HTTP.
 */
export interface AliasOperations<Input = never> {
  /** Model names by alias, in the order of creation. */
  list(): Promise<{ aliases: Record<string, string> }>
  /**
   * Creates or changes an alias, and writes nothing when nothing would change. One that leads back to itself is an `INVALID_REQUEST`. A combo
   * of the same name takes precedence. `warnings` say why the alias leads nowhere yet; absent when it leads to a model.
   */
  set(input: AliasRecord | Input): Promise<AliasRecord & Warned>
  delete(alias: string): Promise<{ success: true }>
}

const aliasInput = closed({ alias: fields.nameInPath, model: fields.model })

/** `inTurn` is shared with the combos: both say where a name leads. `routes`: where names lead now. */
export function createAliasOperations({
  store,
  routes,
  inTurn,
}: {
  store: Store
  routes: () => Awaitable<RouteTable>
  inTurn: Mutex
}): AliasOperations<unknown> {
  const { aliases } = store

  async function warned(record: AliasRecord): Promise<AliasRecord & Warned> {
    const table = await routes()
    const { model } = record
    const combo = table.comboOf(record.alias)
    if (combo?.entries.length === 0) return { ...record, warnings: [`The combo "${combo.name}" has no models.`] }
    if (table.meaningOf(model)) return record
    const [provider] = await table.missingProviders(model)
    const why =
      provider === undefined ? 'no model, combo or alias has this name' : `no active connection to "${provider}"`
    return { ...record, warnings: [`The alias leads nowhere yet: "${model}", ${why}.`] }
  }

  return {
    list: async () => ({
      aliases: Object.fromEntries((await aliases.all()).map(({ alias, model }) => [alias, model])),
    }),

    async set(input) {
      const record = parseInput(aliasInput, input)
      return inTurn(async () => {
        const all = (await aliases.entries({ fresh: true })).map((entry) => entry.record)
        if (all.some(({ alias, model }) => alias === record.alias && model === record.model)) return warned(record)
        const others = all.filter(({ alias }) => alias !== record.alias)
        const cycle = findCycle(record.alias, { combos: await store.combos.all(), aliases: [...others, record] })
        if (cycle) throw invalidInput(`"model" must not lead back to the alias itself: ${shownCycle(cycle)}`)
        await aliases.upsert(record.alias, record)
        return warned(record)
      })
    },

    delete: (name) =>
      inTurn(async () => {
        const { id } = await findRecord(aliases, 'Alias', ({ alias }) => alias === name)
        present(await aliases.remove(id), 'Alias')
        return { success: true }
      }),
  }
}
